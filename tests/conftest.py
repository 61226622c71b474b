"""What all tests share: repeatable examples, and programs that may be missing here but never where all must run."""

import os
import shutil
import sys

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "paucity",
    max_examples=25,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("paucity")

REQUIRE_ALL = "PAUCITY_REQUIRE_ALL"


def missing(what):
    """Skip where a program is not installed; fail where everything is required."""
    if os.environ.get(REQUIRE_ALL):
        pytest.fail(f"{what} is missing, and {REQUIRE_ALL} is set")
    pytest.skip(f"{what} is missing")


@pytest.fixture(scope="session")
def java():
    """Java, which Spark runs on."""
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        missing("Java")
    import pyspark

    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

"""Sets the tag of the wheel: any Python 3, and the platform that the program was linked for."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Platform(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["BAROGRAPH_PLATFORM"]

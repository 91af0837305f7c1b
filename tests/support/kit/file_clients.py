"""A client that answers the read of a missing file as many clients do."""

from __future__ import annotations

from acp_bindings.v1 import ReadTextFileRequest, ReadTextFileResponse
from acp_kit.client import FileHandlers
from acp_runtime import InternalError, ResourceNotFound


class UnspecificFileHandlers(FileHandlers):
    """Answers a missing file with -32603 and the system's text, as SDKs do if a handler raises."""

    async def fs_read_text_file(self, request: ReadTextFileRequest) -> ReadTextFileResponse:
        try:
            return await super().fs_read_text_file(request)
        except ResourceNotFound as error:
            details = f"ENOENT: no such file or directory, open '{request.path}'"
            raise InternalError(data={"details": details}) from error

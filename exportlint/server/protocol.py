"""What pygls leaves open of the protocol: which messages are answered with which error."""

from __future__ import annotations

import logging
from collections.abc import Generator
from concurrent.futures import Future
from typing import Any

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol

log = logging.getLogger(__name__)

_OWN = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
)


class Protocol(LanguageServerProtocol):
    """pygls' protocol, strict about what may be sent when.

    It has no copies of documents of its own, whose lines end at more than LSP's line ends.
    """

    def _register_builtin_features(self) -> None:
        super()._register_builtin_features()  # type: ignore[no-untyped-call]
        for method in _OWN:
            self.fm.builtin_features.pop(method, None)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Leave it: pygls calls this for every object inside of a message as well."""
        return data

    def handle_message(self, message: Any) -> None:
        """Have a message handled, or say what is wrong with it. Raises nothing that a client can bring about."""
        given = message if isinstance(message, dict) else {}
        identity = given.get("id")
        try:
            structured = self._structured(given)
        except JsonRpcException as error:
            log.warning("refused %s: %s", str(given.get("method", "a message"))[:100], error.message)
            if identity is not None and ("result" in given or "error" in given):
                self._handle_response(identity, None, error.to_response_error())  # whoever asked waits for it
            elif identity is not None or not given:
                self._refuse(identity, error)
        else:
            if structured is not None:
                super().handle_message(structured)

    def refuse_unreadable(self, error: Exception) -> None:
        """Say that a message was not even JSON."""
        self._refuse(None, JsonRpcParseError(message=f"Parse Error: {error}"))

    def _structured(self, given: dict[str, Any]) -> Any:
        """The message as lsprotocol has it; None if it is to be ignored. Raises JsonRpcException."""
        identity, method = given.get("id"), given.get("method")
        is_valid = given.get("jsonrpc") == self.VERSION and isinstance(identity, (int, str, type(None)))
        if not is_valid or not isinstance(method, (str, type(None))):
            raise JsonRpcInvalidRequest(message="Invalid Request: not a message of JSON-RPC 2.0")
        if method is None and self._shutdown:
            return None  # an answer that nobody waits for any more
        if method is not None:
            if self._shutdown and method != types.EXIT:
                raise JsonRpcInvalidRequest(message="Invalid Request: the server was told to shut down")
            if self._workspace is None and method not in (types.INITIALIZE, types.EXIT):
                raise JsonRpcServerNotInitialized(message="the server is not initialized")
            if self._workspace is not None and method == types.INITIALIZE:
                raise JsonRpcInvalidRequest(message="Invalid Request: the server is initialized")
            if method != types.CANCEL_REQUEST and not self._is_known(method):
                if identity is None and method.startswith("$/"):
                    return None  # which servers are free to ignore
                raise JsonRpcMethodNotFound.of(method)
        try:
            return super().structure_message(given)
        except JsonRpcException as error:
            raise JsonRpcInvalidParams(message=f"Invalid Params: {error.__cause__}") from None

    def _is_known(self, method: str) -> bool:
        return method in self.fm.builtin_features or method in self.fm.features

    def _run_generator(
        self, future: Future[Any] | None, *, gen: Generator[Any, Any, Any], result_future: Future[Any]
    ) -> None:
        # Whatever goes on after something that was cancelled is cancelled with it.
        if future is not None and future.cancelled():
            result_future.cancel()
        else:
            super()._run_generator(future, gen=gen, result_future=result_future)

    def _handle_cancel_notification(self, msg_id: int | str) -> None:
        # Most often the answer is on its way already, which is nothing to log.
        future = self._request_futures.pop(msg_id, None)
        if future is not None:
            future.cancel()

    def _refuse(self, identity: int | str | None, error: JsonRpcException) -> None:
        self._send_data(types.ResponseErrorMessage(jsonrpc=self.VERSION, id=identity, error=error.to_response_error()))

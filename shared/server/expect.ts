import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Sends `100 Continue` when the content is first read (RFC 9110 section 10.1.1), so that a request
 * can be refused before it. If it is answered without reading, node:http closes the connection:
 * nobody knows whether the bytes that follow are the content or another request.
 */
export function continueOnRead(request: IncomingMessage, response: ServerResponse): void {
  let waiting = true;
  function proceed(): void {
    if (waiting && !response.headersSent) response.writeContinue();
    waiting = false;
  }
  request.once('resume', proceed);
  request.on('newListener', (event) => {
    if (event === 'data' || event === 'readable') proceed();
  });
}

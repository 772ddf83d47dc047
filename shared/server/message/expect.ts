import { Http2ServerResponse } from 'node:http2';
import type { Readable } from 'node:stream';
import type { AnyRequest, AnyResponse } from './message.ts';

/**
 * Sends `100 Continue` when the handler first reads the content (RFC 9110 section 10.1.1), so that it can refuse a
 * request earlier. If the handler answers without reading, node:http closes the connection: the octets that follow
 * could be the content or another request. `asked` is called when 100 is sent.
 */
export function continueOnRead(
  request: AnyRequest,
  response: AnyResponse,
  asked: () => void,
): void {
  const content: Readable = request;
  let waiting = true;
  function proceed(): void {
    const gone = response instanceof Http2ServerResponse && response.stream.closed; // sending 100 on a closed stream would throw
    if (waiting && !response.headersSent && !gone) {
      response.writeContinue();
      asked();
    }
    waiting = false;
  }
  content.once('resume', proceed);
  content.on('newListener', (event) => {
    if (event === 'data' || event === 'readable') proceed();
  });
}

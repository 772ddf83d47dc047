import { Http2ServerResponse } from 'node:http2';
import type { Readable } from 'node:stream';
import type { AnyRequest, AnyResponse } from './message.ts';

/**
 * Sends `100 Continue` when the content is first read (RFC 9110 section 10.1.1), so that a request
 * can be refused before it. If it is answered without reading, node:http closes the connection:
 * nobody knows whether the bytes that follow are the content or another request. `asked` is called when
 * the content can be expected.
 */
export function continueOnRead(
  request: AnyRequest,
  response: AnyResponse,
  asked: () => void,
): void {
  const content: Readable = request;
  let waiting = true;
  function proceed(): void {
    const gone = response instanceof Http2ServerResponse && response.stream.closed; // it would throw
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

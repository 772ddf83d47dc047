import { once } from 'node:events';
import { IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { jest } from '@jest/globals';

export interface SlowRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: Uint8Array;
  /** Default: POST. */
  readonly method?: string;
}

/**
 * Sends a request, and the second half of its content after `meanwhile`. `meanwhile` starts when the server, in this
 * process, reads the content: by then the server has judged the client.
 */
export async function sendSlowly(
  { url, headers, content, method = 'POST' }: SlowRequest,
  meanwhile: () => Promise<unknown>,
): Promise<{ readonly status: number; readonly text: string }> {
  const reads = Promise.withResolvers<void>();
  const { iterator } = IncomingMessage.prototype;
  const spy = jest.spyOn(IncomingMessage.prototype, 'iterator').mockImplementation(function spied(
    this: IncomingMessage,
    options,
  ) {
    reads.resolve();
    return iterator.call(this, options);
  });
  const length = String(content.length);
  const asking = request(url, {
    method,
    headers: { ...headers, 'Content-Length': length },
  });
  const half = content.length / 2;
  asking.write(content.subarray(0, half));
  await reads.promise;
  spy.mockRestore();
  await meanwhile();
  asking.end(content.subarray(half));
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await textOf(answer) };
}

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { HttpError } from '#shared/http/answer.ts';
import { lines } from '#shared/http/fields.ts';
import { acceptOf, isSwitch } from '#shared/http/web-socket.ts';
import { failure } from '../../forwarding/failure.ts';
import { Flow } from '../../forwarding/flow.ts';
import type { PassingAnswer } from '../../forwarding/passing-answer.ts';
import { ask, give, type Sent } from '../../forwarding/send-by-node.ts';
import { unanswered } from '../../forwarding/unanswered.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

/** An application that has opened a WebSocket. */
export interface Opened {
  readonly answer: IncomingMessage;
  /** The application's socket, with the octets that it has already sent. */
  readonly socket: Socket;
}

/** An application that refused the WebSocket. The client gets its answer as it arrives. */
export interface Declined {
  /** Resolves at the end of the answer. */
  readonly over: Promise<void>;
}

/**
 * Asks the application for a WebSocket (RFC 6455 section 4.1).
 * Over HTTP/1.1 the answer may be a 2xx, since an application may ignore Upgrade (RFC 9110 section 7.8). For an
 * extended CONNECT (`extended`) a 2xx would say that a WebSocket is open (RFC 8441 section 5). In that case, and for an
 * answer that accepts another key, rejects with HttpError 502 or 504.
 */
export async function shakeHands(
  sent: Sent,
  { key, extended }: { readonly key: string; readonly extended: boolean },
  passing: PassingAnswer,
): Promise<Opened | Declined> {
  const { promise, resolve, reject } = Promise.withResolvers<Opened | Declined>();
  const asked = ask(sent);
  const over = new Promise<void>((done) => asked.once('close', done));
  const timer = setTimeout(() => {
    asked.destroy(new HttpError(504, 'The application did not answer in time.'));
  }, sent.idle * 1000);
  const leave = () => asked.destroy();
  const { exchange } = passing;
  exchange.once('close', leave);
  const fail = (cause: unknown) => {
    asked.destroy();
    reject(cause instanceof HttpError ? cause : unanswered('application', cause));
  };

  /** An answer that does not fit the handshake. A second attempt would get the same. */
  const refuse = (reason: string) => {
    passing.refused = true;
    fail(failure(502, 'The application opened no WebSocket.', new Error(reason)));
  };

  asked.on('error', fail);
  asked.once('close', () => fail(undefined));
  asked.on('information', ({ statusCode, rawHeaders, httpVersion }) => {
    if (statusCode === 101) return refuse('101 without Upgrade');
    try {
      passing.interim({ status: statusCode, rawHeaders, httpVersion });
    } catch (error) {
      fail(error);
    }
    return undefined;
  });
  asked.once('upgrade', (answer, socket: Socket, head) => {
    if (!accepts(answer, key)) return refuse('101 with another Sec-WebSocket-Accept');
    exchange.off('close', leave);
    if (head.length > 0) socket.unshift(head);
    return resolve({ answer, socket });
  });
  asked.once('response', (answer) => {
    const { statusCode = 0 } = answer;
    if (extended && statusCode < 300) return refuse(`${statusCode} to a handshake`);
    asked.setTimeout(sent.idle * 1000, leave);
    try {
      give(answer, passing, new Flow(sent.request, false));
      return resolve({ over });
    } catch (error) {
      return fail(error);
    }
  });
  asked.end();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

function accepts(answer: IncomingMessage, key: string): boolean {
  const accepted = lines(answer.rawHeaders, 'sec-websocket-accept');
  return isSwitch(answer) && accepted.length === 1 && accepted[0] === acceptOf(key);
}

import { lines, plainMembers } from '#shared/http/fields.ts';
import { UNSTORED } from '#shared/http/answer.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';

const EVENT_STREAM = 'text/event-stream';

/** True if the client asks for events by name, since every client would accept them by its wildcard. */
export function takesEvents(raw: readonly string[]): boolean {
  return lines(raw, 'accept')
    .flatMap(plainMembers)
    .some((member) => {
      const [type = '', ...params] = member.split(';').map((part) => part.trim().toLowerCase());
      return type === EVENT_STREAM && !params.some((param) => /^q=0(?:\.0*)?$/.test(param));
    });
}

/** An event (HTML standard, section 9.2). Its data is JSON. */
export interface ServerEvent {
  readonly event: 'message' | 'receipt';
  readonly data: object;
}

/** A comment, which clients ignore. The first comment sends the head of the answer. */
const COMMENT = Buffer.from(':\n\n');

/**
 * Answers with events as they arrive. Undefined among them is a heartbeat. `done`: called once the last event is
 * written or the client has left.
 */
export function eventStream(
  events: AsyncIterable<ServerEvent | undefined>,
  done: () => void,
): ResourceAnswer {
  return {
    status: 200,
    fields: { ...UNSTORED, 'Content-Type': EVENT_STREAM, 'X-Accel-Buffering': 'no' },
    body: {
      async *each() {
        yield COMMENT;
        for await (const one of events) yield one ? written(one) : COMMENT;
      },
      async [Symbol.asyncDispose]() {
        done();
      },
    },
  };
}

const written = ({ event, data }: ServerEvent) =>
  Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

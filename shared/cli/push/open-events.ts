import type { Client } from '#shared/client/client.ts';
import { noAnswer, type Reply } from '#shared/client/send.ts';
import { eventsIn, type ServerEvent } from './server-events.ts';

const EVENT_STREAM = 'text/event-stream';

/** Milliseconds without any octet after which a connection counts as broken: four signs of life of our push service. */
const SILENCE = 120_000;

/** An answer whose events are read as they come. */
export interface EventAnswer extends Omit<Reply, 'body'> {
  /** Undefined: the answer is something else, and its body is not read. */
  readonly events?: AsyncIterable<ServerEvent>;
}

/** Asks for the events at a URL. No redirect is followed. This and the events reject with `NoAnswer`. */
export async function openEvents(
  { dispatcher, request }: Client,
  url: string,
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<EventAnswer> {
  const headers = { 'user-agent': 'countersign', accept: EVENT_STREAM, ...fields };
  const broken = (error: unknown) => noAnswer({ method: 'GET', url }, error);
  const answer = await request(url, { headers, signal, dispatcher, bodyTimeout: SILENCE }).catch(
    (error: unknown) => {
      throw broken(error);
    },
  );
  const { statusCode: status, body } = answer;
  const lines = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
  const reply = { status, fields: Object.fromEntries(lines) as Reply['fields'] };
  const type = reply.fields['content-type']?.replace(/;.*/s, '').trim().toLowerCase();
  if (status === 200 && type === EVENT_STREAM) return { ...reply, events: eventsIn(pieces(body)) };
  body.on('error', () => {}).destroy();
  return reply;

  async function* pieces(chunks: AsyncIterable<Uint8Array>) {
    try {
      yield* chunks;
    } catch (error) {
      throw broken(error);
    }
  }
}

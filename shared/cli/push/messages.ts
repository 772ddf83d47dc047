import * as z from 'zod';
import type { Clock } from '#shared/base/clock.ts';
import { NoAnswer } from '#shared/client/send.ts';
import { parseHttpDate } from '#shared/http/date.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import { parseSafeUrl } from '../oauth/http.ts';
import { type EventAnswer, openEvents } from './open-events.ts';
import type { ServerEvent } from './server-events.ts';

/** Milliseconds of the first pause before the command connects again. Each further pause is twice as long. */
const FIRST = 1000;
/** Milliseconds of the longest pause. After a connection that lasted longer, pauses start again at the first length. */
const LONGEST = 30_000;
/** Milliseconds that a server can ask for at most: a day. */
const LATEST = 86_400_000;

/** A push message, as the push service tells of it. */
export interface PushMessage {
  /** The URL at which the message is acknowledged. */
  readonly url: string;
  /** Its media type. */
  readonly type?: string | undefined;
  /** Its content coding. */
  readonly coding?: string | undefined;
  readonly body: Buffer;
}

export interface Waiting {
  /** The fields of each request. */
  readonly fields: Readonly<Record<string, string>>;
  /** The signal that ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Yields the messages of a subscription until the signal aborts. If the connection breaks, it connects again, and gets
 * messages that were not acknowledged a second time. Throws `Failure` if the subscription has ended.
 */
export async function* messagesOf(
  url: string,
  { fields, signal }: Waiting,
  shell: Shell,
): AsyncGenerator<PushMessage, void, void> {
  const { openClient } = await import('#shared/client/client.ts');
  const client = openClient({ milliseconds: Infinity });
  await using _ = { [Symbol.asyncDispose]: () => client.dispatcher.destroy() };
  const { clock } = shell;
  for (let pause = FIRST; !signal.aborted; pause = Math.min(2 * pause, LONGEST)) {
    const since = clock.monotonic();
    let asked = 0;
    let reason = 'the push service ended the connection';
    try {
      const answer = await openEvents(client, url, fields, signal);
      if (answer.events === undefined) [reason, asked] = busy(url, answer, clock);
      for await (const event of answer.events ?? []) {
        if (event.event === 'message') yield messageIn(event, url);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof NoAnswer)) throw error;
      reason = error.message;
    }
    if (clock.monotonic() - since > LONGEST) pause = FIRST;
    const milliseconds = Math.max(pause, asked);
    shell.note(`${reason}: again in ${Math.ceil(milliseconds / 1000)} s`);
    await shell.wait(milliseconds, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

/**
 * Returns why there are no events now, and the milliseconds until the next attempt. Throws `Failure` if there will be
 * none.
 */
function busy(url: string, { status, fields }: EventAnswer, clock: Clock): [string, number] {
  const { origin } = new URL(url);
  if (status === 404 || status === 410) {
    throw new Failure(`the subscription has ended: ${origin} does not know it any more`);
  }
  if (status !== 429 && status < 500) {
    throw new Failure(`${origin} answers ${status} and sends no events`);
  }
  return [`${origin} answers ${status}`, retryAfter(fields['retry-after'] ?? '', clock)];
}

/** Milliseconds (RFC 9110 section 10.2.3). */
function retryAfter(value: string, clock: Clock): number {
  const now = clock.now();
  const asked = /^\d+$/.test(value)
    ? Number(value) * 1000
    : (parseHttpDate(value, now) ?? now) - now;
  return Math.min(asked, LATEST);
}

const messageSchema = z.object({
  url: z.string(),
  type: z.string().optional(),
  coding: z.string().optional(),
  body: z.base64url(),
});

function messageIn({ data }: ServerEvent, from: string): PushMessage {
  const { origin } = new URL(from);
  const { data: message } = messageSchema.safeParse(jsonIn(data));
  // The message is deleted at this URL, so it must be at the server of the subscription.
  const url = message && parseSafeUrl(message.url);
  if (message === undefined || url?.origin !== origin) {
    throw new Failure(`${origin} sent an event that is no message`);
  }
  return { ...message, url: url.href, body: Buffer.from(message.body, 'base64url') };
}

function jsonIn(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

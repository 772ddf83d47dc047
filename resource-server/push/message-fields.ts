import { single } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { type PushMessage, URGENCIES, type Urgency } from '#shared/stores/push/push.ts';
import { isMediaType } from '../answers/media-type.ts';

/** The most seconds for which a message is kept: 28 days. */
const LONGEST_TTL = 28 * 86_400;

const DIGITS = /^\d+$/;
/** A topic (RFC 8030 section 5.4). */
const TOPIC = /^[\w-]{1,32}$/;
/** Content codings (RFC 9110 section 8.4), with more characters than any application server needs. */
const CODINGS = /^[\w!#$%&'*+.^`|~, \t-]{1,64}$/;

/** The fields of a request to a push resource (RFC 8030 section 5), without those about receipts. */
export interface MessageFields extends Pick<PushMessage, 'urgency' | 'topic' | 'type' | 'coding'> {
  /** Seconds, at most as many as requested. */
  readonly ttl: number;
}

/** Throws HttpError 400 for missing or malformed fields, and `BadRequest` for repeated fields. */
export function messageFields(raw: readonly string[]): MessageFields {
  const topic = single(raw, 'topic');
  if (topic !== undefined && !TOPIC.test(topic)) {
    throw bad('Topic has 1 to 32 characters of base64url (RFC 8030 section 5.4).');
  }
  const type = single(raw, 'content-type');
  if (type !== undefined && !isMediaType(type)) throw bad('Content-Type is no media type.');
  const coding = single(raw, 'content-encoding');
  if (coding !== undefined && !CODINGS.test(coding)) {
    throw bad('Content-Encoding is no list of content codings.');
  }
  return {
    ttl: ttlOf(single(raw, 'ttl')),
    urgency: urgencyOf(raw) ?? 'normal',
    ...(topic !== undefined && { topic }),
    ...(type !== undefined && { type }),
    ...(coding !== undefined && { coding }),
  };
}

function ttlOf(value: string | undefined): number {
  if (value === undefined) {
    throw bad('The field TTL is needed: seconds that the message may wait (RFC 8030 section 5.2).');
  }
  if (!DIGITS.test(value)) throw bad('TTL is a whole number of seconds, 0 or more.');
  return Math.min(Number(value), LONGEST_TTL);
}

/** Returns the field Urgency (section 5.3), of a message or of a waiting client. Undefined: the field is missing. */
export function urgencyOf(raw: readonly string[]): Urgency | undefined {
  const value = single(raw, 'urgency');
  if (value === undefined) return undefined;
  const urgency = URGENCIES.find((one) => one === value.toLowerCase());
  if (urgency === undefined) throw bad(`Urgency is one of ${URGENCIES.join(', ')}.`);
  return urgency;
}

const bad = (detail: string) => new HttpError(400, detail);

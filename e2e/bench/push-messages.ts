import { forged, type Subscription } from './push-crowd.ts';
import type { HttpRequest } from './requests.ts';

/** The length of a message in octets. */
const LENGTH = 1024;

let made = 0;

/** Returns a unique text. */
export function newBody(): string {
  made += 1;
  return `message ${made} `.padEnd(LENGTH, 'x');
}

/**
 * A request that sends a message, which replaces the previous one. Without `authorization`, the sender's
 * credentials are used again.
 */
export function messageTo(
  { push, sender }: Subscription,
  body = newBody(),
  authorization = sender?.authorization,
): HttpRequest {
  return {
    method: 'POST',
    path: push,
    fields: {
      TTL: '3600',
      Topic: 'bench',
      'Content-Type': 'application/octet-stream',
      'Content-Encoding': 'aes128gcm',
      ...(authorization !== undefined && { Authorization: authorization }),
    },
    body,
  };
}

/** A request that must be refused: with a forged JWT by 403, or to an unknown push resource by 404. */
export function forgedMessage(to: Subscription): { request: HttpRequest; refusal: number } {
  if (to.sender === undefined) {
    const push = to.push.replace(/[^/]+$/, 'A'.repeat(22));
    return { request: messageTo({ ...to, push }), refusal: 404 };
  }
  return { request: messageTo(to, newBody(), forged(to.sender.authorization)), refusal: 403 };
}

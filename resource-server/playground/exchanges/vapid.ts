import { vapidAuthorization, vapidKey } from '#shared/auth/schemes/vapid/prove.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { PUSH_CONTENT_NOTES, VAPID_NOTES } from '#shared/explain/notes/vapid.ts';
import { BEARER_STEPS } from '#shared/explain/schemes/access-token.ts';
import { VAPID_STEPS } from '#shared/explain/schemes/vapid.ts';
import type { Checks } from '../recorded.ts';
import { answered, byCode, told, type ToldStep } from '../checks/told.ts';
import type { Exchange, Performing } from '../exchange.ts';
import { fieldOf, type FieldLine } from '../http1-message.ts';
import { answeredOtherwise } from './parameters.ts';
import { jwtInClear } from './tokens.ts';

const HOUR = 3600;
const DAY = 86_400;
const EVENTS: FieldLine = ['Accept', 'text/event-stream'];
const USER_AGENT = 'userAgent';
const PUSH = /<([^>]*)>; rel="urn:ietf:params:push"/;

/** Subscribes as the user agent, for the key of the application server. Returns the paths for both sides. */
async function subscribe({ send, target, url, issue, keys }: Performing) {
  const token = await issue({ audience: url, scope: PLAYGROUND_SCOPE, person: true });
  const made = await send(
    'The user agent subscribes with a token of its person, and names the key of the application server',
    {
      from: USER_AGENT,
      method: 'POST',
      target: `${target}subscribe`,
      fields: [
        ['Authorization', `Bearer ${token}`],
        ['Content-Type', 'application/webpush-options+json'],
      ],
      content: JSON.stringify({ vapid: vapidKey(keys.p256()) }),
    },
  );
  const [, push] = PUSH.exec(fieldOf(made, 'Link')) ?? [];
  if (push === undefined) throw answeredOtherwise(made);
  return { push, subscription: new URL(fieldOf(made, 'Location')).pathname };
}

/** The credentials of the application server, with its mistake. */
function credentials({ mistake, url, keys, clock }: Performing): readonly FieldLine[] {
  if (mistake === 'anonymous') return [];
  const own = keys.p256();
  const isOther = mistake === 'key' || mistake === 'signature';
  const now = epochSeconds(clock);
  const ends: Readonly<Record<string, number>> = { expired: now - 60, long: now + 2 * DAY };
  const shown = vapidAuthorization({
    key: isOther ? keys.unknownP256() : own,
    audience: mistake === 'audience' ? 'https://other.example' : new URL(url).origin,
    expires: ends[mistake ?? ''] ?? now + HOUR,
    subject: 'mailto:admin@example.com',
  });
  const value = mistake === 'signature' ? shown.replace(/k=.*$/, `k=${vapidKey(own)}`) : shown;
  return [['Authorization', value]];
}

const SUBSCRIBE_STEPS: readonly ToldStep[] = [
  ...byCode(BEARER_STEPS),
  {
    check: 'A person has allowed the token: the subscription ends with this grant.',
    section: 'no standard',
    refuses: answered('403'),
  },
  {
    check: 'The key for which the subscription is made is a point of P-256.',
    section: 'RFC 8292 section 4.1',
    refuses: answered('400', '422'),
  },
];

const ADDRESS_STEPS: readonly ToldStep[] = [
  { check: 'The request comes over TLS.', section: 'RFC 8030 section 8' },
  {
    check: 'The address exists. Every client that knows the address may use it.',
    section: 'RFC 8030 section 8.3',
    refuses: answered('404', '410'),
  },
];

const MESSAGE_STEPS: readonly ToldStep[] = [
  ...ADDRESS_STEPS,
  ...byCode(VAPID_STEPS),
  {
    check: 'TTL says how long the message may wait, and the other fields are well-formed.',
    section: 'RFC 8030 section 5',
    refuses: answered('400'),
  },
];

/** Only the sender of a message and the user agent that subscribes send credentials. */
const checks: Checks = (recorded) => {
  const [, target = ''] = recorded.asked.words;
  const [kind = ''] = target.slice(new URL(recorded.url).pathname.length).split('/');
  const ofKind: Readonly<Record<string, readonly ToldStep[]>> = {
    subscribe: SUBSCRIBE_STEPS,
    push: MESSAGE_STEPS,
  };
  return told(ofKind[kind] ?? ADDRESS_STEPS)(recorded);
};

/** The exchange of vapid (RFC 8292, RFC 8030). */
export const vapidExchange: Exchange = {
  name: 'vapid',
  title: 'vapid, for push messages',
  longName: 'Voluntary Application Server Identification',
  about:
    'An application server hands a message to a push service, which keeps the message until the user agent fetches it. With vapid the push service knows the key of the sender. No other sender can use a subscription for this key, even if the address becomes known.',
  standard: 'RFC 8292, RFC 8030',
  document: 'how-to/push.md',
  overTls: true,
  serverIs: 'pushService',
  inside: true,
  space: {
    schemes: ['Bearer'],
    serves: 'push',
    scopes: { safe: [PLAYGROUND_SCOPE], unsafe: [PLAYGROUND_SCOPE] },
  },
  mistakes: {
    key: 'Another key than that of the subscription',
    signature: 'The right key, but a signature of another key',
    audience: 'A token for another push service',
    expired: 'A token that has expired',
    long: 'A token for more than 24 hours',
    anonymous: 'A message without credentials',
    replayed: 'The same credentials with another message',
  },
  parameters: VAPID_NOTES,
  contents: PUSH_CONTENT_NOTES,
  decoded(name, value) {
    if (name === 't' || name === 'token68') return jwtInClear(value);
    return name === 'body' ? Buffer.from(value, 'base64url').toString() : undefined;
  },
  checks,
  async perform(performing) {
    const { send, remark, mistake, http2 } = performing;
    const { push, subscription } = await subscribe(performing);
    remark(
      'The user agent keeps the address in Location secret. It gives the application server the address in Link, to which messages are sent.',
    );
    const shown = credentials(performing);
    const message = (content: string) => ({
      from: 'applicationServer' as const,
      method: 'POST',
      target: push,
      fields: [...shown, ['TTL', '60'], ['Content-Type', 'text/plain']] as const,
      content,
    });
    const sent = await send(
      'The application server sends a message, with a token that it has signed',
      message('Hello'),
    );
    if (mistake === 'replayed') {
      const title = 'An attacker who has recorded the credentials sends another message';
      const again = await send(title, message('Buy!'));
      if (again.status === 201) {
        remark(
          'The push service accepts the message: until a token expires, it is valid for every message to this push service (RFC 8292 section 2). TLS prevents eavesdroppers from recording it.',
        );
      }
    }
    const stored = URL.parse(fieldOf(sent, 'Location'));
    if (mistake === undefined && stored !== null) {
      await send('The user agent fetches its messages', {
        from: USER_AGENT,
        method: 'GET',
        target: subscription,
        // HTTP/2 delivers by server push (RFC 8030 section 6). HTTP/1.1 has no push, so the client asks for server-sent
        // events.
        fields: [...(http2 ? [] : [EVENTS]), ['Prefer', 'wait=0']],
      });
      remark(
        'The message is in clear text here, so that you can read it. A message for a browser is encrypted, and the push service cannot read it (RFC 8291).',
      );
      await send('The user agent acknowledges the message', {
        from: USER_AGENT,
        method: 'DELETE',
        target: stored.pathname,
        fields: [],
      });
    }
    await send('The user agent ends the subscription', {
      from: USER_AGENT,
      method: 'DELETE',
      target: subscription,
      fields: [],
    });
  },
};

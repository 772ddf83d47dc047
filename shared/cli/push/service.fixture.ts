import webpush from 'web-push';
import { listen, type Listening, type Reply } from '../listen.fixture.ts';
import { LOGIN } from '../oauth/login.fixture.ts';

export interface Event {
  readonly url?: string;
  readonly type?: string;
  readonly coding?: string | undefined;
  readonly body?: string;
}

/** Answers with these events, and ends; a text stands for itself. */
export function events(...all: readonly (Event | string)[]): Reply {
  const body = all
    .map((one) =>
      typeof one === 'string' ? one : `event: message\ndata: ${JSON.stringify(one)}\n\n`,
    )
    .join('');
  return { fields: { 'content-type': 'text/event-stream' }, body: `:\n\n${body}` };
}

export const GONE: Reply = { status: 404 };

/** Returns the coding and body of a message that web-push makes for a subscription. */
export function encrypted(subscription: unknown, content: string | Buffer) {
  const { headers, body } = webpush.generateRequestDetails(
    subscription as webpush.PushSubscription,
    content,
  );
  return {
    coding: String(headers['Content-Encoding']),
    body: (body ?? Buffer.alloc(0)).toString('base64url'),
  };
}

export interface Behaviour {
  /** The answers to those who wait, one after the other; the last one stays. */
  readonly waits?: readonly ((origin: string) => Reply | undefined)[];
  /** The answer to a subscription with a token. */
  readonly subscribed?: (origin: string) => Reply;
  /** The statuses of the answers to DELETE, one after the other; the last one stays. */
  readonly deletions?: readonly number[];
}

export const SUBSCRIPTION = '/push/subscription/S';
export const SUBSCRIBED: Reply = {
  status: 201,
  fields: { location: SUBSCRIPTION, link: '</push/push/P>; rel="urn:ietf:params:push"' },
};

/** A push service, which takes the token of `LOGIN`. */
export function pushService({
  waits = [() => GONE],
  subscribed = () => SUBSCRIBED,
  deletions = [204],
}: Behaviour = {}): Promise<Listening> {
  const [waiting, deleting] = [[...waits], [...deletions]];
  return listen(({ line, method, authorization }, origin) => {
    const place = '/.well-known/oauth-protected-resource/push/';
    if (line === `GET ${place}`) {
      const resource = `${origin}/push/`;
      return { body: { resource, authorization_servers: [LOGIN.issuer] } };
    }
    if (line === 'POST /push/subscribe') {
      const challenge = `DPoP resource_metadata="${origin}${place}"`;
      if (authorization === `DPoP ${LOGIN.access_token}`) return subscribed(origin);
      return { status: 401, fields: { 'www-authenticate': challenge } };
    }
    if (method === 'DELETE') {
      return { status: deleting.length > 1 ? (deleting.shift() ?? 0) : (deleting[0] ?? 0) };
    }
    const wait = waiting.length > 1 ? waiting.shift() : waiting[0];
    return line === `GET ${SUBSCRIPTION}` && wait ? wait(origin) : { status: 500 };
  });
}

/** The lines of the requests of a method. */
export const linesOf = ({ received }: Listening, method: string): readonly string[] =>
  received.filter((one) => one.method === method).map(({ line }) => line);

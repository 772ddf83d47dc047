import { listen, type Received, type Reply } from '../listen.fixture.ts';

type Endpoint = (
  form: URLSearchParams,
  request: Received,
) => ReturnType<Parameters<typeof listen>[0]>;

const NAMES: Readonly<Record<string, string>> = {
  '/device/auth': 'device_authorization_endpoint',
  '/token': 'token_endpoint',
  '/userinfo': 'userinfo_endpoint',
  '/token/revocation': 'revocation_endpoint',
};

/** Starts an authorization server with metadata (RFC 8414) and these endpoints, whose answers the test defines. */
export async function authorizationServer(
  endpoints: Readonly<Record<string, Endpoint>>,
  metadata: object = {},
) {
  return listen((request, origin): Reply | undefined | Promise<Reply | undefined> => {
    if (request.line === 'GET /.well-known/oauth-authorization-server') {
      const named = Object.keys(endpoints).map((path) => [NAMES[path], origin + path]);
      return { body: { issuer: origin, ...Object.fromEntries(named), ...metadata } };
    }
    const endpoint = endpoints[request.url ?? ''];
    return endpoint ? endpoint(new URLSearchParams(request.body), request) : { status: 404 };
  });
}

/** The answer of its device authorization endpoint (RFC 8628 section 3.2). */
export const CODE = {
  device_code: 'dc',
  user_code: 'BCDF-GHJK',
  verification_uri: 'https://auth.example/device',
  verification_uri_complete: 'https://auth.example/device?user_code=BCDF-GHJK',
  expires_in: 600,
  interval: 5,
};
export const error = (name: string): Reply => ({ status: 400, body: { error: name } });
export const granted = (more: object = {}): Reply => ({
  body: {
    access_token: 'at',
    token_type: 'DPoP',
    expires_in: 600,
    refresh_token: 'rt',
    scope: 'documents:read',
    ...more,
  },
});

interface Behaviour {
  readonly metadata?: object;
  readonly device?: Reply;
  readonly polls?: readonly Reply[];
  readonly userinfo?: Reply;
  readonly revocation?: Reply;
}

/** An authorization server for the device flow, that grants at the first poll; the answer to the last poll stays. */
export async function deviceServer(behaviour: Behaviour = {}) {
  const polls = [...(behaviour.polls ?? [granted()])];
  const endpoints = {
    '/device/auth': () => behaviour.device ?? { body: CODE },
    '/token': () => (polls.length > 1 ? polls.shift() : polls[0]),
    '/userinfo': () => behaviour.userinfo ?? { body: { sub: 'p1', preferred_username: 'alice' } },
    '/token/revocation': () => behaviour.revocation ?? {},
  };
  return authorizationServer(endpoints, behaviour.metadata);
}

/** Returns the forms that were sent to a path. */
export const sent = ({ received }: { readonly received: readonly Received[] }, path: string) =>
  received
    .filter(({ url }) => url === path)
    .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));

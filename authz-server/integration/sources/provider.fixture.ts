import { createServer, type Server } from 'node:http';
import { randomId, systemRandom } from '#shared/base/random.ts';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { type Configuration, Provider } from 'oidc-provider';

/** Returns a new signing key. */
export async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), use: 'sig', kid: randomId(systemRandom) };
}

/** The claims about a person besides the subject. */
export type Said = Readonly<Record<string, unknown>>;

/** An OpenID Provider elsewhere: oidc-provider with one client, at which a person signs in without a page. */
export interface OtherProvider extends AsyncDisposable {
  readonly issuer: string;
  /** The people, by subject. A test may change them. */
  readonly people: Map<string, Said>;
  /** The requests, as method and path. */
  readonly requests: string[];
  /** Goes as `subject` from an authorization URL to the URL at the client. A new browser each time. */
  visit(url: string, subject: string): Promise<string>;
  /** Signs with other keys from now on. */
  replaceKeys(keys: readonly JWK[]): void;
  /**
   * Sends a logout token for a session of a person to the client, which listens at `base` in place of its issuer. Rejects
   * if the client does not accept it.
   */
  endSession(subject: string, sid: string | undefined, base: string): Promise<void>;
  /** Stops to answer, or answers again. */
  setDown(down: boolean): void;
}

/** A method of clients that the types of the library leave out. */
interface LogsOut {
  backchannelLogout(sub: string, sid: string | undefined): Promise<void>;
}

export const CLIENT_ID = 'countersign';
export const CLIENT_SECRET = 'a secret of thirty-two characters';

export async function otherProvider(
  callback: string,
  more: Configuration = {},
): Promise<OtherProvider> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Said>();
  let subject = '';
  let isDown = false;
  let clientBase = '';
  const requests: string[] = [];
  const make = (keys: readonly JWK[]) => {
    // The library says that it keeps everything in memory.
    const warned = jest.spyOn(console, 'warn').mockImplementation(() => {});
    const made = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [callback],
          grant_types: ['authorization_code'],
          response_types: ['code'],
          backchannel_logout_uri: callback.replace('/callback', '/logout'),
          backchannel_logout_session_required: true,
        },
      ],
      pkce: { required: () => true },
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['name', 'preferred_username', 'groups'],
      },
      findAccount: (_ctx, id) => {
        const said = people.get(id);
        return said && { accountId: id, claims: () => ({ ...said, sub: id }) };
      },
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
      // Without the dispatcher of the library, which refuses to send to this machine.
      fetch: (url, options: RequestInit & { dispatcher?: unknown } = {}) =>
        fetch(
          (url instanceof Request ? url.url : url.toString()).replace(
            new URL(callback).origin,
            clientBase,
          ),
          Object.fromEntries(Object.entries(options).filter(([name]) => name !== 'dispatcher')),
        ),
      jwks: { keys: [...keys] },
      cookies: { keys: ['a key of the cookies of the other provider'] },
      ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 86_400 },
      ...more,
    });
    warned.mockRestore();
    made.use(async (ctx, next) => {
      if (!ctx.path.startsWith('/interaction/')) {
        await next();
        return;
      }
      const { params, session } = await made.interactionDetails(ctx.req, ctx.res);
      const accountId = session?.accountId ?? subject;
      const grant = new made.Grant({ accountId, clientId: String(params['client_id']) });
      grant.addOIDCScope(String(params['scope']));
      await made.interactionFinished(ctx.req, ctx.res, {
        login: { accountId: subject },
        consent: { grantId: await grant.save() },
      });
    });
    return { provider: made, answer: made.callback() };
  };
  let { provider, answer } = make([await newKey()]);
  server.on('request', (request, response) => {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    if (isDown) request.socket.destroy();
    else void answer(request, response);
  });

  return {
    issuer,
    people,
    requests,
    replaceKeys(keys) {
      ({ provider, answer } = make(keys));
    },

    async endSession(who, sid, base) {
      clientBase = base;
      const client = await provider.Client.find(CLIENT_ID);
      await (client as unknown as LogsOut).backchannelLogout(who, sid);
    },

    setDown(down) {
      isDown = down;
    },

    async visit(url, as) {
      subject = as;
      const cookies = new Map<string, string>();
      let next = url;
      while (next.startsWith(issuer)) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
        for (const line of response.headers.getSetCookie()) {
          const [pair = ''] = line.split(';');
          const [name = '', value = ''] = pair.split(/=(.*)/s);
          cookies.set(name, value);
        }
        const location = response.headers.get('location');
        if (location === null)
          throw new Error(`${next}: ${response.status} ${await response.text()}`);
        next = new URL(location, next).href;
      }
      return next;
    },

    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import { hasPlayground, PLAYGROUND_LIST } from '#shared/config/playground.ts';
import type { Config } from '#shared/config/schema.ts';
import { SIGN_IN_PREFIX } from '#shared/config/sign-in-clients.ts';
import { type Answer, notFound } from '#shared/http/answer.ts';
import type { Brand } from '#shared/pages/document.ts';
import { languageOf } from '#shared/pages/language.ts';
import type { Recipient } from '#shared/server/endpoints/auth-request.ts';
import { EVERYBODY } from '#shared/server/endpoints/cors.ts';
import { type Endpoint, READ } from '#shared/server/endpoints/endpoint.ts';
import { health, type Ready } from '#shared/server/endpoints/health.ts';
import { securityTxt } from '#shared/server/endpoints/security-txt.ts';
import { validated } from '#shared/server/endpoints/validated.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { createPageRouter, type PageRoute } from '../answers/page-routes.ts';
import type { EndpointsOfSchemes } from '../auth/scheme-endpoints.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { forwardedOrigin } from '../forwarding/forwarded-origin.ts';
import { JWKS_PATH } from '../gateway/identity/jwks.ts';
import type { Errors } from '../pages/errors.ts';
import { homePage } from '../pages/views/home.ts';
import type { SignIn } from '../sign-in/open-sign-in.ts';
import type { createHiding } from '../space/hiding.ts';
import type { Spaces } from '../space/spaces.ts';
import { isMetadata, resourceMetadata } from './resource-metadata.ts';
import { verify, verifyBrowser } from './verify.ts';

export interface EndpointParts {
  readonly config: Config;
  readonly spaces: Spaces;
  readonly shownTo: ReturnType<typeof createHiding>;
  readonly ofSchemes: EndpointsOfSchemes;
  readonly signIn: SignIn;
  /** The playground with its pages, if it is enabled. */
  readonly playground?:
    | { readonly pages: readonly PageRoute[]; readonly spaces: Pick<Spaces, 'all'> }
    | undefined;
  /** Resolves when the server can do its work. */
  readonly ready: Ready;
  readonly errors: Errors;
  readonly brand: Brand;
  readonly recipient: Recipient;
  readonly clock: Clock;
  /** The keys of the gateway's statements, if some space gets statements. */
  readonly gatewayJwks?: Endpoint | undefined;
}

type Asked = Pick<Exchange, 'request' | 'response' | 'target' | 'origin'>;

/** The server's own addresses, outside every space. */
export function createEndpoints(parts: EndpointParts): (asked: Asked) => Endpoint | undefined {
  const { config, spaces, signIn, ofSchemes, playground, errors, brand, recipient, clock } = parts;
  const configured = spaces.seen.filter((space) => !playground?.spaces.all.includes(space));
  // The origin over TLS has the same spaces, so they are announced only once.
  const announced = configured.filter((space) => space.origin !== config.tls?.resource);
  const toPlayground = hasPlayground(config) ? PLAYGROUND_LIST : undefined;
  const home: PageRoute = [
    'GET',
    '/',
    ({ req: { headers } }) => {
      const language = languageOf(headers['accept-language']);
      return homePage({ brand, language }, config, announced, toPlayground);
    },
  ];
  const pages = createPageRouter([
    ...(spaces.find(config.resource, []) === undefined ? [home] : []),
    ...signIn.pages,
    ...(playground?.pages ?? []),
  ]);
  /** A proxy may pass the answer on to a person. */
  const tellAll = (request: AnyRequest, answer: Awaitable<Answer>) =>
    andThen(answer, (given) => errors.told(request, given));
  const origins = [config.resource, ...(config.tls ? [config.tls.resource] : [])];
  const everywhere = new Map<string, Endpoint>([
    ...health(parts.ready, { told: errors.ofMode }),
    ...securityTxt(config, origins, clock),
    ['/verify', { methods: READ, answer: (asked) => tellAll(asked, verify(asked, parts)) }],
    [
      '/verify/browser',
      { methods: READ, answer: (asked) => tellAll(asked, verifyBrowser(asked, parts)) },
    ],
    ...(parts.gatewayJwks ? [[JWKS_PATH, parts.gatewayJwks] as const] : []),
  ]);

  /**
   * Returns an application's origin if a trusted proxy passes requests for our own addresses on from that origin
   * (`/.well-known/`, `/.countersign/`).
   */
  function publicOrigin({ socket, rawHeaders }: AnyRequest, own: string): string {
    const trusted = recipient.proxies.has(socket.remoteAddress ?? '');
    return (trusted ? forwardedOrigin(rawHeaders) : undefined) ?? own;
  }

  // The playground's tokens come from no authorization server that metadata could name.
  const described: Spaces['find'] = (origin, segments) => {
    const space = spaces.find(origin, segments);
    return space && playground?.spaces.all.includes(space) ? undefined : space;
  };
  const metadataAt = (origin: string): Endpoint => ({
    methods: READ,
    cors: EVERYBODY,
    answer(request, target) {
      const named = publicOrigin(request, origin);
      const among = { find: described, seen: configured };
      return validated(request, resourceMetadata(config, among, named, target));
    },
  });
  const metadata = new Map(origins.map((origin) => [origin, metadataAt(origin)]));

  return (asked) => {
    const { request, target, origin } = asked;
    if (isMetadata(target)) return metadata.get(origin);
    const toSignIn = target.segments[0] === SIGN_IN_PREFIX;
    const named = toSignIn ? publicOrigin(request, origin) : origin;
    if (toSignIn && !signIn.has(named)) return undefined;
    const methods = pages.methods.get(target.path);
    if (methods) return { methods, answer: () => pages.answer(asked, named) };
    if (toSignIn) throw notFound();
    return everywhere.get(target.path) ?? ofSchemes.get(origin)?.get(target.path);
  };
}

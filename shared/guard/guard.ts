import type {
  FastifyHook,
  Guarded,
  KoaMiddleware,
  NodeHandler,
  NodeMiddleware,
  NodeRequest,
  NodeResponse,
} from './frameworks.ts';
import type { NeededSignIn } from './options.ts';
import type { Principal } from './principal.ts';

/** Judges requests, and tells those behind it who asks. */
export interface RouteGuard {
  /**
   * Judges a request in the style of `fetch`: for Hono, and whatever else has such a `Request`. Never rejects. Give
   * it the same `Request` each time: a proof of DPoP is good once.
   *
   * @example
   * app.use(async (c, next) => {
   *   const verdict = await guard.judge(c.req.raw);
   *   if (!verdict.ok) return verdict.response;
   *   c.set('auth', verdict.principal);
   *   await next();
   *   for (const [name, value] of verdict.headers) c.header(name, value);
   *   return undefined;
   * });
   */
  judge(request: Request): Promise<Verdict>;
  /**
   * Middleware for Connect and Express. Behind it `request.auth` says who asks.
   *
   * @example
   * app.use(guard.node());
   * app.get('/notes', (request, response) => response.json({ readBy: request.auth.id }));
   */
  node(): NodeMiddleware;
  /**
   * A listener for node:http that lets only those requests reach the handler that are let in.
   *
   * @example
   * createServer(guard.node((request, response) => response.end(request.auth.id)));
   */
  node<Q extends NodeRequest, S extends NodeResponse>(
    handler: NodeHandler<Q & Guarded, S>,
  ): NodeHandler<Q, S>;
  /**
   * Middleware for Koa. Behind it `context.state.auth` says who asks.
   *
   * @example
   * const app = new Koa<Guarded>();
   * app.use(guard.koa());
   * app.use((context) => {
   *   context.body = { readBy: context.state.auth.id };
   * });
   */
  koa(): KoaMiddleware;
  /**
   * A hook for Fastify. Behind it `request.auth` says who asks.
   *
   * @example
   * import '@countersign/resource/fastify';
   * app.addHook('onRequest', guard.fastify());
   * app.get('/notes', async (request) => ({ readBy: request.auth.id }));
   */
  fastify(): FastifyHook;
}

/**
 * Stands before an API. It begins at once, and answers 503 until the authorization server has answered. Middleware and
 * hooks answer the request for the metadata, too.
 */
export interface Guard extends RouteGuard {
  /**
   * A guard for a route that needs these scopes beside those of the method. It may stand behind the guard of the whole
   * API or alone. Throws a `TypeError` for what is no scope.
   *
   * @example
   * app.post('/notes/:id/share', guard.scopes('notes:share').node(), share);
   */
  scopes(...needed: readonly string[]): RouteGuard;
  /**
   * Guards the calls of an MCP server's tools, of which some need scopes beside those of the method. Give what it returns
   * the message as it was parsed, also a batch. Throws a `TypeError` for what is no scope.
   *
   * @example
   * const calls = guard.tools({ add_note: ['notes:write'] });
   * app.post('/mcp', express.json(), (request, response, next) =>
   *   calls(request.body).node()(request, response, next),
   * );
   */
  tools(needed: Readonly<Record<string, readonly string[]>>): (message: unknown) => RouteGuard;
  /**
   * A guard for a route that needs this sign-in (RFC 9470), beside what the API needs for the method. It may stand
   * behind the guard of the whole API or alone. Throws a `TypeError` for what is no such thing.
   *
   * @example
   * app.post('/payments', guard.signIn({ acr: 'passkey', maxAge: 300 }).node(), pay);
   */
  signIn(needed: NeededSignIn): RouteGuard;
  /**
   * Returns the metadata that clients read before they have a token (RFC 9728), for `metadataPath` of the API's origin.
   *
   * @example
   * app.get(guard.metadataPath, () => guard.metadata());
   */
  metadata(): Response;
  readonly metadataPath: string;
  /**
   * Ends what the guard does by itself, which is to follow revocations: a process that is to end by itself has to
   * call it. From then on nobody is let in.
   *
   * @example
   * process.once('SIGTERM', () => server.close(() => guard.close()));
   */
  close(): Promise<void>;
}

/** The verdict on a request: the principal, or the answer that it gets. */
export type Verdict =
  | {
      readonly ok: true;
      readonly principal: Principal;
      /** For your answer: with DPoP, the next nonce. */
      readonly headers: Headers;
    }
  | {
      readonly ok: false;
      /** 400, 401, 403 or 503. */
      readonly response: Response;
    };

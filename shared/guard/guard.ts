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

/** Judges requests, and names the caller to the code behind it. */
export interface RouteGuard {
  /**
   * Judges a request in the style of `fetch`: for Hono, and any framework with such a `Request`. Never rejects. Pass
   * the same `Request` object each time, since a DPoP proof is accepted once.
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
   * Middleware for Connect and Express. Behind it `request.auth` is the caller.
   *
   * @example
   * app.use(guard.node());
   * app.get('/notes', (request, response) => response.json({ readBy: request.auth.id }));
   */
  node(): NodeMiddleware;
  /**
   * A listener for node:http that calls the handler only for admitted requests.
   *
   * @example
   * createServer(guard.node((request, response) => response.end(request.auth.id)));
   */
  node<Q extends NodeRequest, S extends NodeResponse>(
    handler: NodeHandler<Q & Guarded, S>,
  ): NodeHandler<Q, S>;
  /**
   * Middleware for Koa. Behind it `context.state.auth` is the caller.
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
   * A hook for Fastify. Behind it `request.auth` is the caller.
   *
   * @example
   * import '@countersign/resource/fastify';
   * app.addHook('onRequest', guard.fastify());
   * app.get('/notes', async (request) => ({ readBy: request.auth.id }));
   */
  fastify(): FastifyHook;
}

/**
 * The guard of an API. It works at once, and requests get 503 until the authorization server has answered. Its
 * middleware and hooks also answer requests for the metadata.
 */
export interface Guard extends RouteGuard {
  /**
   * Returns a guard for a route that needs these scopes beside those of the method. The route may have the guard of the
   * whole API, too. Throws a `TypeError` for a value that is no scope.
   *
   * @example
   * app.post('/notes/:id/share', guard.scopes('notes:share').node(), share);
   */
  scopes(...needed: readonly string[]): RouteGuard;
  /**
   * Guards the calls of an MCP server's tools, some of which need scopes beside those of the method. Pass the parsed
   * message, or a batch, to the returned function. Throws a `TypeError` for a value that is no scope.
   *
   * @example
   * const calls = guard.tools({ add_note: ['notes:write'] });
   * app.post('/mcp', express.json(), (request, response, next) =>
   *   calls(request.body).node()(request, response, next),
   * );
   */
  tools(needed: Readonly<Record<string, readonly string[]>>): (message: unknown) => RouteGuard;
  /**
   * Returns a guard for a route that needs this sign-in (RFC 9470), beside the sign-in that the method needs. The route
   * may have the guard of the whole API, too. Throws a `TypeError` for a value that is no sign-in.
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
   * Stops following revocations, which otherwise keeps the process running. From then on all requests are refused.
   *
   * @example
   * process.once('SIGTERM', () => server.close(() => guard.close()));
   */
  close(): Promise<void>;
}

/** The verdict on a request: its principal, or the answer to send. */
export type Verdict =
  | {
      readonly ok: true;
      readonly principal: Principal;
      /** Fields for your answer: with DPoP, the next nonce. */
      readonly headers: Headers;
    }
  | {
      readonly ok: false;
      /** 400, 401, 403 or 503. */
      readonly response: Response;
    };

import type { FastifyHook, KoaMiddleware, NodeMiddleware } from './frameworks.ts';
import type { Principal } from './principal.ts';

/** What stands before an API. It begins at once, and answers 503 until the authorization server has. */
export interface Guard {
  /**
   * Judges a request in the style of `fetch`: for Hono, and whatever else has such a `Request`. Never rejects.
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
   * Middleware for Connect and Express, and for node:http; answers the request for the metadata as well. Behind it
   * `request.auth` says who asks.
   *
   * @example
   * app.use(guard.node());
   * app.get('/notes', (request: Request & Guarded, response) => response.json(request.auth));
   *
   * @example
   * const guarded = guard.node();
   * createServer((request, response) => guarded(request, response, () => answer(request, response)));
   */
  node(): NodeMiddleware;
  /**
   * Middleware for Koa; answers the request for the metadata as well. Behind it `context.state.auth` says who asks.
   *
   * @example
   * app.use(guard.koa());
   * app.use((context) => {
   *   context.body = context.state.auth;
   * });
   */
  koa(): KoaMiddleware;
  /**
   * A hook for Fastify; answers the request for the metadata as well. Behind it `request.auth` says who asks.
   *
   * @example
   * app.addHook('onRequest', guard.fastify());
   * app.get('/notes', async (request: FastifyRequest & Guarded) => request.auth);
   */
  fastify(): FastifyHook;
  /**
   * What clients read of the API before they have a token (RFC 9728), for the path `metadataPath` of its origin.
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

/** What became of a request: who asks, or the answer that it gets. */
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

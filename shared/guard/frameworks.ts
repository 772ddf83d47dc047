import type { Principal } from './principal.ts';

/** The parts of each framework that the guard uses, so that none need be installed. */

/** A request of node:http, or of a framework based on node:http. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** The `url` before a router removed the path at which it is mounted. */
  readonly originalUrl?: string | undefined;
  readonly rawHeaders: readonly string[];
}

export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string | readonly string[]): unknown;
  end(body?: string): unknown;
}

/** A request behind the guard. */
export interface Guarded {
  /** Absent on routes without a guard. */
  auth: Principal;
}

declare global {
  // The namespace in which middleware declares its additions to a request of Express.
  namespace Express {
    interface Request extends Guarded {}
  }
}

export type NodeHandler<Q, S> = (request: Q, response: S) => void;

/** Middleware of Connect, and thereby of Express. */
export type NodeMiddleware = (
  request: NodeRequest,
  response: NodeResponse,
  next: () => void,
) => void;

export interface KoaContext {
  readonly method: string;
  readonly originalUrl: string;
  readonly req: NodeRequest;
  status: number;
  body: unknown;
  state: Partial<Guarded>;
  set(fields: { [name: string]: string | string[] }): unknown;
}

/** Middleware of Koa. */
export type KoaMiddleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<void>;

export interface FastifyRequest {
  readonly originalUrl: string;
  readonly raw: NodeRequest;
}

export interface FastifyReply {
  code(status: number): unknown;
  headers(fields: object): unknown;
  send(body?: unknown): unknown;
}

/** A hook for `onRequest` of Fastify. */
export type FastifyHook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

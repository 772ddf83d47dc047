import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Outcome, ProtectionSpace } from '#shared/auth/scheme.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { Target } from '#shared/http/target.ts';
import type { Cors } from './cors.ts';
import type { AnyRequest } from '../message/message.ts';

export type Answered = Awaitable<Answer<string | Uint8Array>>;

/** A row of a server's table of endpoints. `serve` applies it before the handler runs. */
export interface Endpoint {
  /** The supported methods, besides OPTIONS, which every endpoint supports. */
  readonly methods: readonly string[];
  /** Absent: scripts of other origins may not call the endpoint. */
  readonly cors?: Cors;
  /** True if each request uses up `limits.address` of the client's address. */
  readonly limited?: boolean;
  /** True for endpoints that only programs use: errors are never pages, even if the client accepts HTML. */
  readonly program?: boolean;
  /** Answers a request. Absent beside an absent `byToken`: the handler after the table answers. */
  readonly answer?: (request: AnyRequest, target: Target) => Answered;
  readonly byToken?: ByToken;
  /** Answers OPTIONS that is no preflight; default: lists the methods. */
  readonly options?: () => Answer;
}

/** A protected resource (RFC 6750, RFC 9449), and how it answers admitted clients. */
export interface ByToken {
  readonly space: ProtectionSpace;
  /** The origin of the resource's URL. */
  readonly origin: string;
  /** Makes a token in the content of a request one of its Authorization field (RFC 6750 section 2.2). */
  readonly readContent?: (request: AnyRequest) => Awaitable<void>;
  readonly answer: (request: AnyRequest, passed: Passed) => Answered;
}

/** The admitted principal, and the grounds on which it was admitted. */
export type Passed = Pick<Extract<Outcome, { kind: 'pass' }>, 'principal' | 'grounds'>;

/** An endpoint with GET also has HEAD. */
export const READ = ['GET', 'HEAD'] as const;

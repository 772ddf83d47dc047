import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Outcome, ProtectionSpace } from '#shared/auth/scheme.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { Target } from '#shared/http/target.ts';
import type { Cors } from './cors.ts';
import type { AnyRequest } from '../message/message.ts';

export type Answered = Awaitable<Answer<string | Uint8Array>>;

/** A row of a server's table: what is decided about a request by its address alone (`serve`). */
export interface Endpoint {
  /** Besides OPTIONS, which every endpoint has. */
  readonly methods: readonly string[];
  /** Absent: no script of another origin may call. */
  readonly cors?: Cors;
  /** Each request costs one of its address (`limits.address`). */
  readonly limited?: boolean;
  /** For programs: errors are not told by pages, whatever the client accepts. */
  readonly program?: boolean;
  /** Answers a request. Without this and `byToken`, the handler behind the table answers. */
  readonly answer?: (request: AnyRequest, target: Target) => Answered;
  readonly byToken?: ByToken;
  /** Answers OPTIONS that is no preflight; default: the methods. */
  readonly options?: () => Answer;
}

/** A protected resource (RFC 6750, RFC 9449), and what it does for who was let in. */
export interface ByToken {
  readonly space: ProtectionSpace;
  /** The origin of the resource's URL. */
  readonly origin: string;
  readonly answer: (request: AnyRequest, passed: Passed) => Answered;
}

/** The principal that was let in, and on what grounds. */
export type Passed = Pick<Extract<Outcome, { kind: 'pass' }>, 'principal' | 'grounds'>;

/** HEAD goes with GET. */
export const READ = ['GET', 'HEAD'] as const;

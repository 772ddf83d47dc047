import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { checkOptions } from './check-options.ts';
import { createGuard } from './create-guard.ts';
import type { Guard } from './guard.ts';
import type { GuardLog, ProtectOptions } from './options.ts';
import { signOfSeveral } from './several.ts';

export type {
  FastifyHook,
  FastifyReply,
  FastifyRequest,
  Guarded,
  KoaContext,
  KoaMiddleware,
  NodeHandler,
  NodeMiddleware,
  NodeRequest,
  NodeResponse,
} from './frameworks.ts';
export type { Guard, RouteGuard, Verdict } from './guard.ts';
export type {
  AuthenticationChoice,
  DpopChoice,
  GuardLog,
  NeededSignIn,
  ProtectOptions,
  RedisClient,
  RevocationChoice,
} from './options.ts';
export type { Claims, Principal } from './principal.ts';

/** The default log, which omits refusals. */
const CONSOLE: GuardLog = {
  info: () => {},
  warn: (event, fields) => console.warn(event, fields),
  error: (event, fields) => console.error(event, fields),
};

/**
 * Protects an API by the access tokens of a Countersign authorization server. It sends no request before the first
 * request of a client. Throws a `TypeError` for wrong options, which says what to do.
 *
 * @example
 * const guard = protect({
 *   issuer: 'https://auth.example',
 *   resource: 'https://api.example/',
 *   scopes: (method) => (['GET', 'HEAD'].includes(method) ? ['notes:read'] : ['notes:write']),
 * });
 */
export function protect(options: ProtectOptions): Guard {
  checkOptions(options);
  return createGuard(options, {
    clock: systemClock,
    random: systemRandom,
    fetch: (...asked) => fetch(...asked),
    // This is where the process starts for the package, as a main.ts is for a server, so it reads the environment.
    several: signOfSeveral(process.env),
    log: CONSOLE,
  });
}

import { interactionPolicy } from 'oidc-provider';
import type { Configuration } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import { isEnough } from '../base/acr-values.ts';
import type { AuthzServer } from '../base/server.ts';

const { base, Check } = interactionPolicy;

/**
 * Returns when a person has to sign in or to decide: as the engine has it, and to sign in once more where a client asks for
 * a stronger way (`acr_values`, RFC 9470 section 5). With `prompt=none` that is `login_required`, as for `max_age`: the
 * client may ask again with a page (OpenID Connect Core 1.0 section 3.1.2.6).
 */
export function loginPolicy({
  clock,
  config,
}: Pick<AuthzServer, 'clock' | 'config'>): NonNullable<Configuration['interactions']>['policy'] {
  const policy = base();
  const description = 'the person has to sign in by one of the acr_values';
  policy.get('login')?.checks.add(
    new Check('acr_values', description, 'login_required', ({ oidc }) => {
      return !isEnough(oidc.session?.acr, oidc.params?.['acr_values']);
    }),
  );
  // A clock that was set back leaves such sign-ins. The engine takes them for recent ones, resource servers do not
  // (shared/auth/judge/step-up.ts): the person would go back and forth until their time has come.
  policy.get('login')?.checks.add(
    new Check(
      'max_age_ahead',
      'the last sign-in is later than now',
      'login_required',
      ({ oidc }) => {
        const latest = epochSeconds(clock) + config.tokens.skew;
        return oidc.params?.['max_age'] !== undefined && (oidc.session?.loginTs ?? 0) > latest;
      },
    ),
  );
  return policy;
}

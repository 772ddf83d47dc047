import type { Mistake } from '#shared/base/mistake.ts';
import type { Config, SpaceConfig } from './schema.ts';

/** A rule over several members. It is not checked while a member that it reads has a mistake of its own. */
export interface Rule {
  readonly reads: readonly (keyof Config)[];
  check(config: Config, env: NodeJS.ProcessEnv): readonly Mistake[];
}

/** A mistake for each space that `wrong` says something about. */
export function eachSpace(
  { spaces }: Pick<Config, 'spaces'>,
  member: string,
  wrong: (space: SpaceConfig) => string | undefined,
): Mistake[] {
  return spaces.flatMap((space, index) => {
    const message = wrong(space);
    return message === undefined ? [] : [{ path: `spaces.${index}.${member}`, message }];
  });
}

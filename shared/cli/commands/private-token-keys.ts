import { listTokenKeys } from '#shared/keys/token-key-lifecycle.ts';
import type { ScheduledTokenKey } from '#shared/keys/token-key-schedule.ts';
import { TOKEN_TYPES } from '#shared/private-token/token-types.ts';
import type { Command } from '../arguments/command.ts';
import { table } from '../lines/table.ts';
import { withTokenKeys } from '../stores/with-token-keys.ts';

/** The words before the time of its next change. */
const MEANING: Record<Exclude<ScheduledTokenKey['state'], 'retired'>, string> = {
  published: 'published, issues from',
  issuing: 'issues, good until',
  retiring: 'retiring: behind the newer one, good until',
};

export const privateTokenKeys: Command = {
  name: 'private-token keys',
  store: 'opens',
  summary: 'list the keys of the PrivateToken issuer and the state of each',
  details: [
    'Tokens of a key are valid until its end. Retired keys are only counted (--json lists them): they stay stored so',
    'that no new key gets a truncated id that clients may still send.',
  ],
  run: (_, shell) =>
    withTokenKeys(shell, async (life) => {
      const keys = (await listTokenKeys(life)).map(account);
      const rows = keys.flatMap(({ id, type, state, not_before: from, until }) =>
        state === 'retired'
          ? []
          : [[id, type, MEANING[state], state === 'published' ? from : (until ?? '')]],
      );
      const retired = keys.length - rows.length;
      return {
        json: keys,
        lines: [
          ...(keys.length === 0
            ? ['There is no key yet.']
            : table(['id', 'type', 'state', 'until'], rows)),
          ...(retired === 0 ? [] : [`Retired: ${retired}`]),
        ],
      };
    }),
};

/** `until`: of a retired key nothing is good, whatever its row says. */
function account({ key, state, until }: ScheduledTokenKey) {
  return {
    id: key.id,
    type: TOKEN_TYPES[key.type].name,
    state,
    not_before: new Date(key.notBefore).toISOString(),
    until: state === 'retired' ? undefined : new Date(until).toISOString(),
  };
}

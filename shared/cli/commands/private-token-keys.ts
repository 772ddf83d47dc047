import {
  listPrivateTokenKeys,
  type ShownTokenKey,
} from '#shared/operations/keys/private-token-keys.ts';
import { table } from '../lines/table.ts';
import { listCommandOf } from '../stores/of-operation.ts';

/** The words before the time of its next change. */
const MEANING: Record<Exclude<ShownTokenKey['state'], 'retired'>, string> = {
  published: 'published, issues from',
  issuing: 'issues, good until',
  retiring: 'retiring: behind the newer one, good until',
};

export const privateTokenKeys = listCommandOf(listPrivateTokenKeys, {
  details: [
    'Tokens of a key are valid until its end. Retired keys are only counted (--json lists them): they stay stored so',
    'that no new key gets a truncated id that clients may still send.',
  ],
  nothing: () => 'There is no key yet.',
  lines: (items: readonly ShownTokenKey[], widths) =>
    table(['id', 'type', 'state', 'until'], items.flatMap(row), widths),
  end(items: readonly ShownTokenKey[]) {
    const retired = items.filter(({ state }) => state === 'retired').length;
    return retired === 0 ? [] : [`Retired: ${retired}`];
  },
});

const row = ({ id, type, state, not_before: from, until = '' }: ShownTokenKey) =>
  state === 'retired' ? [] : [[id, type, MEANING[state], state === 'published' ? from : until]];

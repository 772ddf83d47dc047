import {
  listSigningKeys,
  type ShownSigningKey,
} from '#shared/operations/keys/signing-keys-list.ts';
import { table } from '../lines/table.ts';
import { listCommandOf } from '../stores/of-operation.ts';

const MEANING: Record<ShownSigningKey['state'], string> = {
  published: 'published, signs from',
  signing: 'signs, until',
  retiring: 'retiring: signs no more, what it signed lives until',
  retired: 'retired: nothing that it signed lives',
};

export const signingKeysList = listCommandOf(listSigningKeys, {
  nothing: () => 'There is no key yet.',
  lines: (items: readonly ShownSigningKey[], widths) =>
    table(['kid', 'alg', 'state'], items.map(row), widths),
});

const row = ({ kid, alg, state, until }: ShownSigningKey) => [
  kid,
  alg,
  state === 'signing' && !until ? 'signs' : `${MEANING[state]} ${until ?? ''}`,
];

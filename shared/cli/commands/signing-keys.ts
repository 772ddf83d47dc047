import {
  listSigningKeys,
  type ShownSigningKey,
} from '#shared/operations/keys/signing-keys-list.ts';
import { table } from '../lines/table.ts';
import { commandOf, listCommandOf } from '../stores/of-operation.ts';
import { rotateSigningKey } from '#shared/operations/keys/signing-keys-rotate.ts';

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

export const signingKeysRotate = commandOf(rotateSigningKey, {
  details: [
    'The new key is published now and signs after jwks.overlap seconds. The old key stays published until its last token',
    'has expired. With --compromised the command drops the key KID (default: the present signing key). The next request',
    'with one of its tokens is refused, and a new key signs at once.',
    'Applications check the statements of the gateway: they accept the dropped key until they fetch the keys',
    'again.',
  ],
  lines: ({ ended, kid, alg, signs_from: from }, { gateway }) =>
    ended === undefined
      ? [`Published the ${alg} key ${kid}. It signs from ${from}.`]
      : [
          gateway
            ? `The key ${ended} is published no more.`
            : `Every token of the key ${ended} is refused from now on.`,
          ...(kid === undefined ? [] : [`The ${alg} key ${kid} signs in its place.`]),
        ],
});

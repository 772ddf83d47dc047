import { rotateSigningKey } from '#shared/operations/keys/signing-keys-rotate.ts';
import { commandOf } from '../stores/of-operation.ts';

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

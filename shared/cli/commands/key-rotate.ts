import { rotateApiKey } from '#shared/operations/keys/key-rotate.ts';
import { keyLines } from '../clients/new-key.ts';
import { commandOf } from '../stores/of-operation.ts';

export const keyRotate = commandOf(rotateApiKey, {
  details: ['The new key has the same application, realm and scopes.'],
  lines: (key, { id, overlap }) => [
    ...keyLines(key),
    `The key ${id} ends ${overlap} seconds from now at the latest.`,
  ],
});

import { removeKey } from '#shared/operations/keys/key-remove.ts';
import { commandOf } from '../stores/of-operation.ts';

export const keyRemove = commandOf(removeKey, { lines: ({ id }) => [`Removed the key ${id}.`] });

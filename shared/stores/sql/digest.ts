import { hash } from 'node:crypto';

/** SHA-256 of namespace and key: neither can be read in the file, and different pairs have different digests. */
export function digestOf(namespace: string, key: string): Buffer {
  return hash('sha256', JSON.stringify([namespace, key]), 'buffer');
}

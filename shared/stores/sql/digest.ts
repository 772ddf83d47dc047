import { hash } from 'node:crypto';

/**
 * SHA-256 of namespace and key. Neither can be read from the file, and no octet of one can be taken for the other's.
 */
export function digestOf(namespace: string, key: string): Buffer {
  return hash('sha256', JSON.stringify([namespace, key]), 'buffer');
}

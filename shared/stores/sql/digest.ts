import { hash } from 'node:crypto';

/** SHA-256 of namespace and key: neither can be read from the file, nor shifted into the other. */
export function digestOf(namespace: string, key: string): Buffer {
  return hash('sha256', JSON.stringify([namespace, key]), 'buffer');
}

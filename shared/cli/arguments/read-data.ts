import type { Shell } from './command.ts';
import { fileContent } from './bounded-file.ts';

/** Reads the body of a request from an option: text, `@FILE`, or `-` for standard input. */
export async function readData(
  data: string | undefined,
  shell: Shell,
): Promise<Buffer | undefined> {
  if (data === undefined) return undefined;
  if (data === '-') return shell.readStdin();
  if (!data.startsWith('@')) return Buffer.from(data);
  return fileContent(data.slice(1));
}

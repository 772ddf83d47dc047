import { open } from 'node:fs/promises';
import { Failure } from './command.ts';

/** The most octets of a file or of standard input: enough for an export of some 200,000 people. */
export const LONGEST_INPUT = 256 * 2 ** 20;

/** The name of standard input in messages. */
export const STDIN = 'standard input';

interface FileOptions {
  /** The most octets of the file. */
  readonly most?: number;
  /** Refuses devices, pipes and other files that are not regular, since they may never end. Links are followed. */
  readonly regular?: boolean;
}

/** Reads a file that an argument names. Throws `Failure`, whose message never has the content. */
export async function fileContent(
  path: string,
  { most = LONGEST_INPUT, regular = false }: FileOptions = {},
): Promise<Buffer> {
  try {
    await using file = await open(path);
    if (regular && !(await file.stat()).isFile()) throw new Failure(`${path} is no file`);
    return await boundedContent(path, file.createReadStream({ autoClose: false }), most);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`cannot read ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Reads a file in UTF-8. Throws `Failure`, whose message never has the content. */
export const fileText = async (path: string, options?: FileOptions): Promise<string> =>
  textOf(path, await fileContent(path, options));

/** Decodes content as UTF-8. Throws `Failure` if it is not UTF-8. */
export function textOf(name: string, content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new Failure(`${name} is not UTF-8`);
  }
}

/** Reads a stream to its end. Throws `Failure` if it has more than `most` octets. */
export async function boundedContent(
  name: string,
  chunks: AsyncIterable<Buffer>,
  most: number,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > most) {
      throw new Failure(`${name} has more than ${most.toLocaleString('en')} octets`);
    }
    parts.push(chunk);
  }
  return Buffer.concat(parts, length);
}

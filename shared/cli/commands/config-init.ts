import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { configJsonSchema } from '#shared/config/json-schema.ts';
import { configSchema } from '#shared/config/schema.ts';
import { withTour } from '#shared/config/tour.ts';
import { START } from '#shared/base/invocation.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { makeNamedFolder } from '../arguments/named-folder.ts';

/** The name of the file. */
const NAME = 'countersign.json';

export const configInit: Command = {
  name: 'config init',
  summary: 'write countersign.json with every setting at its default, and its schema for editors',
  operands: ['[FOLDER]'],
  options: {
    minimal: {
      help: 'write only settings without a default; the servers use the defaults of each release',
    },
  },
  details: ['FOLDER is the working directory by default. The command never replaces a file.'],
  run: async ({ operands: [folder = '.'], flag }) => {
    if (folder.endsWith('.json')) {
      throw new Failure(
        `${folder} would be a folder: name the one in which ${NAME} is to be, such as ${dirname(folder)}`,
      );
    }
    const { issuer, resource } = configSchema.parse({});
    const settings = flag('minimal') ? { issuer, resource } : withTour(configSchema.parse({}));
    const files = [
      {
        file: join(folder, NAME),
        content: { $schema: './countersign.schema.json', ...settings },
      },
      { file: join(folder, 'countersign.schema.json'), content: configJsonSchema() },
    ];
    makeNamedFolder(folder, 0o777);
    for (const { file, content } of files) await create(file, content);
    return {
      json: { files: files.map(({ file }) => file) },
      lines: [
        ...files.map(({ file }) => `Wrote ${file}`),
        `Start with: COUNTERSIGN_CONFIG=${files[0]?.file} ${START}`,
      ],
    };
  },
};

async function create(file: string, content: object): Promise<void> {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw new Failure(
      error.code === 'EEXIST' ? `${file} is there already` : `cannot write ${file} (${error.code})`,
    );
  });
}

import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { configJsonSchema } from '#shared/config/json-schema.ts';
import { type Config, configSchema } from '#shared/config/schema.ts';
import { withTour } from '#shared/config/tour.ts';
import { START } from '#shared/base/invocation.ts';
import { type Command, Failure, type Shell, UsageError } from '../arguments/command.ts';
import { makeNamedFolder } from '../arguments/named-folder.ts';
import { ConfigError } from '#shared/base/mistake.ts';
import { unreadFile } from '#shared/base/unread-file.js';
import { serviceLinks } from '#shared/config/environment.ts';
import { inFileOrder } from '#shared/config/file-order.ts';
import { loadConfig, readConfig } from '#shared/config/load.ts';
import { groupWarnings } from '#shared/config/group-warnings.ts';
import { passkeyWarning } from '#shared/config/passkey-warning.ts';
import { isProduction } from '#shared/config/production.ts';
import { storeInWords } from '#shared/config/store-in-words.ts';
import { warn, type Warning } from '#shared/config/warning-texts.ts';
import { configWarnings } from '#shared/config/warnings.ts';
import { type ServerName, SERVERS } from '#shared/config/server-name.ts';
import { startMistakes } from '#shared/config/start-mistakes.ts';
import { givenSettings } from '#shared/config/variables.ts';
import { withStores } from '../stores/with-stores.ts';
import { maskedUrl } from '#shared/base/masked-url.ts';

/** The name of the file. */
const NAME = 'countersign.json';

export const configInit: Command = {
  name: 'config init',
  summary:
    'write countersign.json with every setting at its default, and its JSON Schema for editors',
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
        `Servers and commands then keep their data in ${join(folder, 'data')}.`,
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

export const configCheck: Command = {
  name: 'config check',
  summary: 'check a configuration together with the environment; names every mistake',
  operands: ['[FILE]'],
  options: {
    server: {
      value: 'NAME',
      help: 'authz or resource: check only the files of that server; default: both',
    },
    store: {
      help: 'also check the setup of the database, and the contents of the store',
    },
    create: { help: 'with --store: make the store, also beside other stores in the same database' },
  },
  details: [
    'FILE is COUNTERSIGN_CONFIG by default. The files and folders that the servers open must be on this machine.',
    'With --store it opens the store as servers do; a new release then migrates the store. In PostgreSQL it also makes the',
    'store, unless the database has another store; in `data` the store must exist.',
    'The command reports passkeys of another domain, and groups without people.',
  ],
  run: async ({ operands: [file], text, flag }, { env: given, clock, random }) => {
    const read = file ?? given['COUNTERSIGN_CONFIG'];
    const env = file === undefined ? given : { ...given, COUNTERSIGN_CONFIG: file };
    const servers = serversOf(text('server'));
    const readable = await readConfig(env).catch((error: unknown) => {
      throw error instanceof ConfigError ? new ConfigError(error.mistakes, read) : error;
    });
    const { config, broken, members } = readable;
    const start = await startMistakes(config, env, servers, broken);
    const mistakes = [...readable.mistakes, ...start];
    if (mistakes.length > 0) throw new ConfigError(inFileOrder(mistakes, members), read);
    const mode = isProduction(config) ? 'production' : 'development';
    const unread = unreadFile(env);
    const store = flag('store')
      ? await lookInto({ env, clock, random, creates: flag('create') || onPostgres(config) })
      : undefined;
    const warnings = [...configWarnings(config, clock.now()), ...(store?.warnings ?? [])];
    return {
      json: { ok: true, mode, ...(warnings.length > 0 && { warnings }) },
      lines: [
        read ? `${read} can be used.` : NO_FILE,
        ...givenSettings(env).map(({ path, variable }) => `${variable} sets ${path.join('.')}.`),
        `This is ${mode}: ${MEANING[mode]}.`,
        ...(unread === undefined ? [] : [unread]),
        ...(store === undefined ? [] : [`The store answers: ${storeInWords(config)}.`]),
        ...(store?.isUnused ? ['No server has used it yet.'] : []),
        ...[...warnings, ...serviceLinks(env)].map(
          ({ path, message }) => `Look again: ${path} ${message}.`,
        ),
      ],
    };
  },
};

/**
 * With PostgreSQL `config check` creates the store, since the guide asks for the command before the first start. With
 * SQLite a wrong working folder would get a new store.
 */
const onPostgres = ({ store }: Config) => store.kind === 'postgres' && 'first';

/** Opens the store, and returns the settings that do not fit its content. */
async function lookInto(
  shell: Pick<Shell, 'env' | 'clock' | 'random' | 'creates'>,
): Promise<{ readonly isUnused: boolean; readonly warnings: readonly Warning[] }> {
  const found: Warning[] = [];
  const warned = (reason: string) =>
    void found.push({ path: 'store', ...warn('server-of-store', { reason }) });
  return withStores(
    { ...shell, warned },
    async ({ passkeys, people, clients, revocations }, config) => {
      const warning = await passkeyWarning(config, passkeys);
      return {
        isUnused: (await revocations.epoch(false)) === undefined,
        warnings: [
          ...found,
          ...(warning === undefined ? [] : [warning]),
          ...(await groupWarnings(config, { people, clients })),
        ],
      };
    },
  );
}

function serversOf(name: string | undefined): readonly ServerName[] {
  if (name === undefined) return SERVERS;
  const server = SERVERS.find((one) => one === name);
  if (server === undefined)
    throw new UsageError(`--server is ${name}: it must be authz or resource`);
  return [server];
}

const NO_FILE =
  'The configuration can be used. COUNTERSIGN_CONFIG names no file: it has the defaults and the environment.';

const NO_FILE_PRINTED =
  'COUNTERSIGN_CONFIG names no file: these are the defaults and the environment. Set it to the file of the servers.';

const MEANING = {
  production: 'the pair can be reached from elsewhere',
  development: 'every origin is on loopback, and no listener names another host',
};

export const configPrint: Command = {
  name: 'config print',
  summary: 'print the configuration in force: file, environment and defaults, without secrets',
  run: async (_, shell) => {
    const { env } = shell;
    const config = masked(await loadConfig(env));
    if (!env['COUNTERSIGN_CONFIG']) shell.note(NO_FILE_PRINTED);
    const unread = unreadFile(env);
    if (unread !== undefined) shell.note(unread);
    return { json: config, lines: JSON.stringify(config, null, 2).split('\n') };
  },
};

function masked(config: Config): Config {
  const { store } = config;
  if (store.kind === 'sqlite') return config;
  const own = withoutPasswords(store);
  return {
    ...config,
    store: 'redis' in own && own.redis ? { ...own, redis: withoutPasswords(own.redis) } : own,
  };
}

const withoutPasswords = <S extends { readonly urls: string[] }>(servers: S): S => ({
  ...servers,
  urls: servers.urls.map(maskedUrl),
});

export const configSchemaCommand: Command = {
  name: 'config schema',
  summary: 'print the JSON Schema of the configuration file',
  run: async () => {
    const schema = configJsonSchema();
    return { json: schema, lines: JSON.stringify(schema, null, 2).split('\n') };
  },
};

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import { Problem } from '#infra/http/problem.ts'
import { makeLocks } from '../writing/locks.ts'
import { declaredOf, type Declared } from './declared.ts'
import { notOneDocument, parseSetupFile, type SetupFault } from './file.ts'

export type SetupFile = {
  readonly declared: Declared
  /** The lines of values, or of the nearest values around them. */
  readonly linesOf: (paths: readonly (readonly PropertyKey[])[]) => Promise<readonly number[]>
  /** The texts of the files that it names. */
  readonly files: ReadonlyMap<string, string>
  /** The bytes of those that are no text. */
  readonly binaryFiles: ReadonlyMap<string, Buffer>
  /** Secrets that the sender has made up where the file leaves them out: by the step that needs one, and by its name. */
  readonly madeSecrets: ReadonlyMap<string, Readonly<Record<string, string>>>
}

type Faulty = { readonly faults: readonly SetupFault[] }

/**
 * The demo's file has 56,000 characters; what is large in practice, rates and documents, has files of its own. A million
 * take seconds to parse.
 */
export const mostSetupCharacters = 1_000_000

/**
 * Read at once: a file so short takes some hundredths of a second, whatever is in it. Every other is read beside the requests
 * of others, and so is one that may hold aliases: for each, the whole file is looked through.
 */
const isShort = (text: string): boolean => text.length <= 5_000 && !text.includes('*')
const withinMs = 30_000
const mostMegabytes = 512

/**
 * Reads a set-up file. The files that it names may follow as a second document, `files: { name: text }`,
 * `binary_files: { name: base64 }` and `made_secrets: { step: { name: secret } }`, so that the lines of the first stay what
 * they are. In JSON, it may be as long as a request.
 */
export const withSetupFile = async <Result>(
  sent: string,
  sections: Sections,
  use: (file: SetupFile | Faulty) => Promise<Result>,
): Promise<Result> => {
  const { text, json } = withoutJson(sent)
  if (text.length > mostSetupCharacters) return use({ faults: [{ line: 1, path: [], reason: tooLong(text.length) }] })
  const read = async (parsed: Parsed): Promise<Result> => {
    try {
      if ('faults' in parsed) return await use(parsed)
      const { declared, attached, linesOf } = parsed
      const files = filesOf(json ?? attached)
      if (!files || (json !== undefined && attached !== undefined)) return await use({ faults: [notOneDocument] })
      return await use({ declared, linesOf, ...files })
    } finally {
      await parsed.close()
    }
  }
  if (isShort(text)) return read(parseHere(text, sections))
  const askedAt = performance.now()
  return inTurn(['beside'], async () => {
    // Whoever has waited so long has been told by a proxy that nothing answers, or will be, before the file is read.
    if (performance.now() - askedAt > withinMs)
      throw new Problem('unavailable', 'Other large set-up files are being read. Send this one again.')
    return read(await parseBeside(text))
  })
}

/** A million characters take up to half a gigabyte until their lines have been found: of several files one comes after the other. */
const inTurn = makeLocks()

type Parsed = { readonly close: () => Promise<unknown> } & (
  Faulty | (Pick<SetupFile, 'declared' | 'linesOf'> & { readonly attached: unknown })
)

type Sections = Parameters<typeof declaredOf>[1]

const parseHere = (text: string, sections: Sections): Parsed => {
  const parsed = parseSetupFile(text)
  const nothing = { close: async () => undefined }
  if ('faults' in parsed) return { ...parsed, ...nothing }
  const { content, attached, lineOf } = parsed
  return { declared: declaredOf(content, sections), attached, linesOf: async (paths) => paths.map(lineOf), ...nothing }
}

/** Parses in a thread of its own, whose sections are those of the service. */
const parseBeside = async (text: string): Promise<Parsed> => {
  const worker = new Worker(new URL('thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
  })
  // Whoever waits for an answer is told; an error that nobody waits for must not end the process.
  worker.on('error', () => undefined)
  const answer = async <Answer>(): Promise<Answer> => {
    const signal = AbortSignal.timeout(withinMs)
    try {
      const [message] = (await once(worker, 'message', { signal })) as [Answer] // what the thread posts
      return message
    } catch (error) {
      throw signal.aborted || isOutOfMemory(error) ? tooMuch() : error
    }
  }
  const close = () => worker.terminate()
  try {
    // How long it takes to start says nothing of the file.
    await once(worker, 'message')
    worker.postMessage(text)
    const parsed = await answer<Faulty | { readonly declared: Declared; readonly attached: unknown }>()
    if ('faults' in parsed) return { ...parsed, close }
    const linesOf: SetupFile['linesOf'] = async (paths) => {
      worker.postMessage(paths)
      return answer<readonly number[]>()
    }
    return { ...parsed, linesOf, close }
  } catch (error) {
    await worker.terminate()
    throw error
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

const tooMuch = () =>
  new Problem(
    'validation_failed',
    'The set-up file holds too much to be read at once. Put each firm into a file of its own.',
  )

const tooLong = (length: number): string =>
  `the file has ${counted(length)} characters, and at most ${counted(mostSetupCharacters)} are read: put rates into CSV files beside it, named with file, and each firm into a file of its own`

const counted = (length: number): string => length.toLocaleString('en-GB')

const mark = '\n---\n'

/** Separates what follows in JSON: nothing but the start of another document can begin with this mark. */
const withoutJson = (sent: string): { readonly text: string; readonly json?: unknown } => {
  const at = sent.lastIndexOf(mark)
  const second = at === -1 ? '' : sent.slice(at + mark.length)
  if (!second.startsWith('{')) return { text: sent }
  try {
    return { text: sent.slice(0, at), json: JSON.parse(second) as unknown }
  } catch {
    return { text: sent }
  }
}

type Files = Pick<SetupFile, 'files' | 'binaryFiles' | 'madeSecrets'>

const noFiles: Files = { files: new Map(), binaryFiles: new Map(), madeSecrets: new Map() }

const Attached = z.object({
  files: z.record(z.string(), z.coerce.string()),
  binary_files: z.record(z.string(), z.base64()).default({}),
  made_secrets: z.record(z.string(), z.record(z.string(), z.string().min(16).max(500))).default({}),
})

const filesOf = (content: unknown): Files | undefined => {
  if (content === undefined) return noFiles
  const { data } = Attached.safeParse(content)
  if (!data) return undefined
  const binaries = Object.entries(data.binary_files)
  return {
    files: new Map(Object.entries(data.files)),
    binaryFiles: new Map(binaries.map(([name, base64]) => [name, Buffer.from(base64, 'base64')] as const)),
    madeSecrets: new Map(Object.entries(data.made_secrets)),
  }
}

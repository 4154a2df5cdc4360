import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { emptyAccount, type Account } from './account.ts'

/** The answer to an idempotency key. */
const Kept = z.object({ key: z.string(), fingerprint: z.string(), status: z.int(), body: z.unknown() })
export type Kept = z.output<typeof Kept>

const Something = z.looseObject({ id: z.string(), object: z.string() })

/** All that changes at once, on one line of the file: of an act of which the writing was interrupted nothing is kept. */
const Change = z.object({
  account: z.string(),
  objects: z.array(Something).optional(),
  kept: Kept.optional(),
  /** Events of which the service is to be told. */
  due: z.array(Something).optional(),
  /** The ids of events that are due no longer. */
  told: z.array(z.string()).optional(),
})
type Change = z.output<typeof Change>

export type Books = {
  readonly accounts: () => readonly Account[]
  readonly account: (name: string) => Account
  readonly keptFor: (account: Account, key: string) => Kept | undefined
  /** Takes down what has changed of an account, which holds once `written` resolves. */
  readonly record: (account: Account, more?: Pick<Change, 'kept' | 'due' | 'told'>) => void
  readonly due: (account: Account) => readonly z.output<typeof Something>[]
  /** Resolves when all that was recorded so far is on the disk; rejects for ever once it cannot be written. */
  readonly written: () => Promise<void>
  readonly close: () => Promise<void>
}

const mostKept = 100_000

type Shelf = { readonly account: Account; readonly due: Map<string, z.output<typeof Something>> }

/** The books of all accounts; those of a file, which is for its owner alone, are found again by whoever opens it next. */
export const openBooks = async (file?: string): Promise<Books> => {
  const shelves = new Map<string, Shelf>()
  const keptAnswers = new Map<string, { readonly account: string; readonly kept: Kept }>()

  const shelfOf = (name: string): Shelf => {
    const known = shelves.get(name)
    if (known) return known
    const shelf = { account: emptyAccount(name), due: new Map() }
    shelves.set(name, shelf)
    return shelf
  }
  const fold = ({ account: name, objects = [], kept, due = [], told = [] }: Change): void => {
    const shelf = shelfOf(name)
    for (const object of objects) shelf.account.objects.set(object.id, object)
    for (const event of due) shelf.due.set(event.id, event)
    for (const id of told) shelf.due.delete(id)
    if (kept) keptAnswers.set(`${name} ${kept.key}`, { account: name, kept })
    if (keptAnswers.size > mostKept) keptAnswers.delete(keptAnswers.keys().next().value ?? '')
  }
  /** All that is known, in as few lines as were needed to say it. */
  function* whole(): Generator<Change> {
    for (const [name, { account, due }] of shelves) {
      for (const object of account.objects.values()) yield { account: name, objects: [object] }
      for (const event of due.values()) yield { account: name, due: [event] }
    }
    for (const { account, kept } of keptAnswers.values()) yield { account, kept }
  }

  const journal = file === undefined ? undefined : await openJournal(file, fold, whole)
  return {
    accounts: () => [...shelves.values()].map(({ account }) => account),
    account: (name) => shelfOf(name).account,
    keptFor: ({ name }, key) => keptAnswers.get(`${name} ${key}`)?.kept,
    record: (account, more = {}) => {
      const objects = [...account.changed].flatMap((id) => account.objects.get(id) ?? [])
      account.changed.clear()
      const change = { account: account.name, ...(objects.length > 0 && { objects }), ...more }
      if (Object.keys(change).length === 1) return
      fold(change)
      journal?.append(change)
    },
    due: ({ name }) => [...shelfOf(name).due.values()],
    written: async () => journal?.written(),
    close: async () => journal?.close(),
  }
}

/** Reads all changes of a file, writes it again with no more than is needed, and then adds to it. */
const openJournal = async (file: string, fold: (change: Change) => void, whole: () => Iterable<Change>) => {
  for await (const change of changesIn(file)) fold(change)
  const unfinished = `${file}.unfinished`
  await rm(unfinished, { force: true })
  await pipeline(Readable.from(linesOf(whole())), createWriteStream(unfinished, { mode: 0o600, flush: true }))
  await rename(unfinished, file)
  const handle = await open(file, 'a')
  let pending = ''
  let written = Promise.resolve()

  return {
    append: (change: Change): void => {
      pending += lineOf(change)
      written = written.then(async () => {
        // What came meanwhile was written together with what came before it.
        if (pending === '') return
        const text = pending
        pending = ''
        await handle.appendFile(text)
        await handle.datasync()
      })
      // Whoever waits for it is told: after a line that was written in part none may follow.
      written.catch(() => undefined)
    },
    written: () => written,
    close: async () => {
      await written.catch(() => undefined)
      await handle.close()
    },
  }
}

const lineOf = (change: Change): string => `${JSON.stringify(change)}\n`

function* linesOf(changes: Iterable<Change>): Generator<string> {
  for (const change of changes) yield lineOf(change)
}

/** The last line may have been written in part, when nobody was answered yet: it is left out. */
async function* changesIn(file: string): AsyncGenerator<Change> {
  const handle = await open(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (!handle) return
  let number = 0
  let isTorn = false
  for await (const line of handle.readLines()) {
    if (isTorn)
      throw new Error(`Line ${number} of ${file} cannot be read. Put the file back from a copy, or remove it.`)
    number++
    const change = changeOn(line)
    if (change) yield change
    else isTorn = true
  }
}

const changeOn = (line: string): Change | undefined => {
  try {
    return Change.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

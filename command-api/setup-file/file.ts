import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, visit, type Document, type Node } from 'yaml'

/** Something wrong in a set-up file, at its line. */
export type SetupFault = {
  readonly line: number
  readonly path: readonly PropertyKey[]
  readonly reason: string
  /** The number of faults that it stands for, where it is several. */
  readonly count?: number
}

export type ParsedSetupFile = {
  readonly content: unknown
  /** A second document. */
  readonly attached: unknown
  /** The line of a value, or of the nearest value around it. */
  readonly lineOf: (path: readonly PropertyKey[]) => number
}

/** Reads the YAML of a set-up file. */
export const parseSetupFile = (text: string): ParsedSetupFile | { readonly faults: readonly SetupFault[] } => {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, merge: true, prettyErrors: false })
  if ('empty' in documents) return { faults: [{ line: 1, path: [], reason: 'the file is empty' }] }

  // What the reader stumbles over next mostly follows from where it stumbled first: a tab makes a dozen.
  const faults = documents.flatMap(({ errors: [first, ...more] }) =>
    [...(first ? [first] : []), ...more.filter(({ code }) => code === 'DUPLICATE_KEY')].map(
      ({ pos: [at], message }) => ({ line: lines.linePos(at).line, path: [], reason: inOurWords(message) }),
    ),
  )
  if (faults.length > 0) return { faults: faults.slice(0, mostFaults) }

  const [main, attached, ...rest] = documents
  if (main?.contents === null) return { faults: [{ line: 1, path: [], reason: 'the file is empty' }] }
  if (!main || rest.length > 0) return { faults: [notOneDocument] }
  const lineOf = (path: readonly PropertyKey[]) => lineAt(main, lines, path)
  try {
    const content = toPlain(main)
    const tooDeep = tooDeepAt(content)
    if (tooDeep) return { faults: [{ line: lineOf(tooDeep), path: [], reason: refusedDepth }] }
    return { content, attached: attached && toPlain(attached), lineOf }
  } catch (error) {
    // An alias of an anchor that there is not, or so many that the file would grow without end.
    if (error instanceof ReferenceError)
      return { faults: [{ line: unresolvedAt(main, lines), path: [], reason: error.message }] }
    // What stands at `<<`; the library gives no place.
    if (error instanceof Error && error.message.startsWith('Merge sources must be'))
      return {
        faults: [{ line: 1, path: [], reason: 'at a merge key (<<) there must be a mapping or an alias of one' }],
      }
    throw error
  }
}

/** More are not told. */
const mostFaults = 100

export const notOneDocument: SetupFault = { line: 1, path: [], reason: 'a set-up file is one YAML document' }

const deepest = 64
const refusedDepth = `something is nested deeper than ${deepest} levels, or is an alias of what it stands in`

/** Says in our words that a file is nested deeper than the reader can follow. */
const inOurWords = (message: string): string => (message.startsWith('Maximum call stack') ? refusedDepth : message)

/** The first place beyond the deepest level: what stands in itself has one, too. */
const tooDeepAt = (value: unknown, path: readonly PropertyKey[] = []): readonly PropertyKey[] | undefined => {
  if (typeof value !== 'object' || value === null) return undefined
  if (path.length > deepest) return path
  for (const [key, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const found = tooDeepAt(inner, [...path, key])
    if (found) return found
  }
  return undefined
}

/** The line of the first alias of an anchor that there is not. */
const unresolvedAt = (document: Document, lines: LineCounter): number => {
  let line = 1
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document)) return undefined
      line = lines.linePos(startOf(alias) ?? 0).line
      return visit.BREAK
    },
  })
  return line
}

const toPlain = (document: Document): unknown => {
  const plain: unknown = document.toJS()
  return plain
}

const lineAt = (document: Document, lines: LineCounter, path: readonly PropertyKey[]): number => {
  let node: unknown = document.contents
  let line = lines.linePos(startOf(node) ?? 0).line
  for (const part of path) {
    const inner: unknown = isAlias(node) ? node.resolve(document) : node
    const [key, value] = partOf(inner, part) ?? []
    const start = startOf(key) ?? startOf(value)
    if (start === undefined) return line
    line = lines.linePos(start).line
    node = value
  }
  return line
}

/** The key, where there is one, and the value of a part. A number finds a place in a map too: lists can be written as maps. */
const partOf = (node: unknown, part: PropertyKey): readonly [unknown, unknown] | undefined => {
  if (isSeq(node)) return [undefined, typeof part === 'number' ? node.items[part] : undefined]
  if (!isMap(node)) return undefined
  const pair =
    typeof part === 'number'
      ? node.items[part]
      : node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
  return pair && [pair.key, pair.value]
}

const startOf = (node: unknown): number | undefined => {
  const { range } = (node ?? {}) as Partial<Node> // what is no node has no range either
  return range?.[0]
}

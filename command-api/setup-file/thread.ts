import { parentPort } from 'node:worker_threads'
import { declaredOf } from './declared.ts'
import { parseSetupFile } from './file.ts'
import { setupSections } from '../setup-sections.ts'
import { onlyDescribed } from '../capability.ts'

// Started by read-setup-file.ts: says that it is ready, gets a file, answers with what it declares, and then with the lines of
// places in it.

/** Sections that know their schemas and plan nothing. */
export const sections = setupSections(onlyDescribed)

const read = (text: string): void => {
  const parsed = parseSetupFile(text)
  if ('faults' in parsed) return parentPort?.postMessage(parsed)
  const { content, attached, lineOf } = parsed
  parentPort?.on('message', (paths: readonly (readonly PropertyKey[])[]) => parentPort?.postMessage(paths.map(lineOf)))
  parentPort?.postMessage({ declared: declaredOf(content, sections), attached })
}

parentPort?.once('message', read)
parentPort?.postMessage('ready')

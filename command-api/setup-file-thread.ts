import { parentPort, workerData } from 'node:worker_threads'
import { parseSetupFile } from './setup-file.ts'

// Started by read-setup-file.ts: answers with what a file holds, and then with the lines of places in it.
const parsed = parseSetupFile(String(workerData))
if ('faults' in parsed) parentPort?.postMessage(parsed)
else {
  const { content, attached, lineOf } = parsed
  parentPort?.on('message', (paths: readonly (readonly PropertyKey[])[]) => parentPort?.postMessage(paths.map(lineOf)))
  parentPort?.postMessage({ content, attached })
}

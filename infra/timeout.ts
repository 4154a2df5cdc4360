/** Something was not there in time. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
}

/** Rejects with `TimedOut` when a promise has not settled in time. What it stands for goes on, and nobody hears of its end. */
export const withTimeout = async <Result>(promise: Promise<Result>, ms: number, message: string): Promise<Result> => {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimedOut(message)), ms)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}

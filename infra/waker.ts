/** One sleeper and those who wake it. Who is woken while awake does not fall asleep the next time. */
export const waker = () => {
  let isWoken = false
  let rise: (() => void) | undefined

  return {
    wake: () => {
      isWoken = true
      rise?.()
    },
    /** Until woken, or at most so long. */
    sleep: async (milliseconds?: number): Promise<void> => {
      if (!isWoken)
        await new Promise<void>((resolve) => {
          const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds)
          rise = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      rise = undefined
      isWoken = false
    },
  }
}

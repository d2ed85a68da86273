"""Work that does all that a watched process should be caught at; a process imports only this."""

import os
import time


def misbehaving():
    def work(task):
        if task == "wait":
            time.sleep(600)
        while task == "work":
            pass
        if task == "die":
            os._exit(3)
        if task == "fail":
            raise KeyError("a key")
        return str(len(bytearray(int(task))) >> 20)

    return work
